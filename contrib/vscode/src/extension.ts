/** Starts `memfence lsp` and hands it the files of its languages; everything else is the server's work. */

import { commands, ExtensionContext, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const MODELS = ["promela", "litmus", "dve", "rmm", "persist"];
let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const settings = workspace.getConfiguration("memfence");
  const languages = settings.get<boolean>("cFiles") ? [...MODELS, "c", "cpp"] : MODELS;
  const server: ServerOptions = { command: settings.get<string>("command") ?? "memfence", args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: languages.map((language) => ({ scheme: "file", language })),
    initializationOptions: {
      model: settings.get<string>("model"),
      timeoutSeconds: settings.get<number>("timeoutSeconds"),
      memoryMegabytes: settings.get<number>("memoryMegabytes"),
    },
    synchronize: { configurationSection: "memfence" },
  };
  client = new LanguageClient("memfence", "memfence", server, options);
  context.subscriptions.push(
    commands.registerCommand("memfence.cancelAll", () =>
      client?.sendRequest("workspace/executeCommand", { command: "memfence.cancel", arguments: [] }),
    ),
  );
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  // Light and dark: the system decides until the button is pressed; the choice is kept where the browser allows it.
  const toggle = document.getElementById("theme");
  const prefersDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark());
  const remember = (value) => { try { localStorage.setItem("memfence-theme", value); } catch { /* not allowed */ } };
  const recall = () => { try { return localStorage.getItem("memfence-theme"); } catch { return null; } };
  const showTheme = () => toggle.setAttribute("aria-pressed", String(isDark()));
  if (recall()) root.dataset.theme = recall();
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    showTheme();
  });
  showTheme();

  // A litmus test has a run to each of its final states; the address says which one is shown, 0 being the run of the page.
  const outcomes = JSON.parse(document.getElementById("outcomes").textContent);
  const asked = Number(/^#run=(\d+)/.exec(location.hash)?.[1] ?? 0);
  const chosen = asked <= outcomes.length ? asked : 0;
  const run = chosen ? outcomes[chosen - 1].run : JSON.parse(document.getElementById("data").textContent);
  if (!run) return;

  const SVG = "http://www.w3.org/2000/svg";
  const last = run.steps.length - 1;
  const machine = document.getElementById("machine");
  const timeline = chosen ? document.querySelector(`.timeline[data-run="${chosen}"]`) : document.getElementById("timeline");
  const slider = document.getElementById("slider");
  const rows = [...timeline.querySelectorAll("tbody tr")];
  let current = 0;

  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const shape = (tag, attributes) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const colour = (process) => `p${process % 6}`;
  const addresses = new Map(run.value_names);
  const valueText = (value) => addresses.get(value) ?? (value === null ? "?" : String(value));
  const equation = (variable, value) => `${run.variables[variable]} = ${valueText(value)}`;
  // Steps that nobody else can see are passed over; where one was asked for, the one before it is shown.
  const visible = run.steps.map((step, n) => n).filter((n) => !run.steps[n].minor);
  const end = visible.at(-1);
  const following = (number) => visible.find((n) => n > number) ?? end;
  const preceding = (number) => visible.findLast((n) => n < number) ?? 0;

  // The machine: processes on top, their store buffers below them, memory at the bottom.
  const deepest = run.processes.map((_, p) =>
    run.buffer_names[p].map((_, b) => Math.max(...run.steps.map((step) => step.buffers[p][b].length))));
  const used = run.processes.map((_, p) => deepest[p].map((depth, b) => [depth, b]).filter(([depth]) => depth > 0));
  const parts = { cpus: [], cells: new Map(), queues: new Map() };

  function build() {
    const cpus = element("div", "cpus");
    run.processes.forEach((name, p) => {
      const cpu = element("div", `cpu ${colour(p)}`);
      const box = element("div", "cpu-box");
      const title = element("div", "cpu-name", name);
      const at = element("small");
      title.append(at);
      const does = element("div", "cpu-does");
      const regs = element("div", "regs");
      box.append(title, does, regs);
      const buffers = element("div", "buffers");
      for (const [depth, b] of used[p]) {
        const queue = element("div", "queue");
        queue.style.minHeight = `calc(${depth} * 2rem + 1.9rem)`;
        buffers.append(queue);
        parts.queues.set(`${p}/${b}`, queue);
      }
      cpu.append(box, buffers);
      cpus.append(cpu);
      parts.cpus.push({ cpu, box, at, does, regs });
    });
    const memory = element("div", "memory");
    memory.append(element("div", "memory-name", "memory"));
    const cells = element("div", "cells");
    for (const v of run.shown) {
      const cell = element("div", "var");
      cell.append(element("span", "", run.variables[v]), element("b"));
      cells.append(cell);
      parts.cells.set(v, cell);
    }
    memory.append(cells);
    const named = run.variables.map((name, v) => [name, v]).filter(([, v]) => !run.bookkeeping.includes(v));
    const hidden = named.filter(([, v]) => !run.shown.includes(v));
    if (hidden.length) {
      const names = hidden.slice(0, 12).map(([name, v]) => `${name}=${valueText(run.steps[0].memory[v])}`);
      memory.append(element("div", "others", `not accessed: ${names.join(" ")}${hidden.length > 12 ? " …" : ""}`));
    }
    parts.arrows = shape("svg", { class: "arrows" });
    machine.append(cpus, memory, parts.arrows);
  }

  // With many processes, or on a small screen, the one that acts may be outside of its frame.
  function bringIntoView(cpu) {
    const frame = cpu.closest(".scroll");
    const [inner, outer] = [cpu.getBoundingClientRect(), frame.getBoundingClientRect()];
    if (inner.left < outer.left || inner.right > outer.right) frame.scrollLeft += inner.left - outer.left - 12;
  }

  function drawState(number) {
    const step = run.steps[number];
    const before = run.steps[Math.max(0, number - 1)];
    const passed = new Set(step.accesses.flatMap((access) => access.overtakes.map((at) => `${access.process}/${at}`)));
    parts.cpus.forEach(({ cpu, at, does, regs }, p) => {
      const action = step.actions.find((one) => one.process === p);
      cpu.classList.toggle("active", Boolean(action));
      if (action && number > 0) bringIntoView(cpu);
      at.textContent = step.locations[p];
      const past = action ? action : lastAction(p, number);
      does.textContent = past ? past.text : "";
      does.classList.toggle("past", !action);
      regs.replaceChildren(...step.registers[p].map(([name, value], r) => {
        const changed = value !== before.registers[p][r][1];
        return element("span", `reg ${colour(p)}${changed ? " changed" : ""}`, `${name}=${valueText(value)}`);
      }));
      for (const [, b] of used[p]) {
        const label = run.buffer_names[p][b] ? `buffer of ${run.buffer_names[p][b]}` : "store buffer";
        const held = step.buffers[p][b];
        const entries = held.map((pending) => {
          if (pending.variable === null) return element("div", "entry separator");
          const marks = [passed.has(`${p}/${pending.issued}`) && "overtaken", pending.issued === number && "fresh"];
          return element("div", ["entry", ...marks.filter(Boolean)].join(" "), equation(pending.variable, pending.value));
        });
        const title = element("div", "queue-name", held.length ? label : `${label}: empty`);
        parts.queues.get(`${p}/${b}`).replaceChildren(title, ...entries.reverse());
      }
    });
    for (const [v, cell] of parts.cells) {
      cell.lastChild.textContent = valueText(step.memory[v]);
      cell.classList.toggle("changed", number > 0 && step.accesses.some((a) => a.variable === v && ["store", "commit"].includes(a.kind)));
    }
  }

  function lastAction(p, number) {
    for (let n = number; n > 0; n -= 1) {
      const action = run.steps[n].actions.find((one) => one.process === p && run.steps[n].kind !== "commit");
      if (action && !run.steps[n].minor) return action;
    }
    return null;
  }

  // Arrows of the machine: what this step moves, and past what.
  function drawArrows(number) {
    const area = machine.getBoundingClientRect();
    const box = (node) => {
      const r = node.getBoundingClientRect();
      return { left: r.left - area.left, right: r.right - area.left, top: r.top - area.top, bottom: r.bottom - area.top,
        x: (r.left + r.right) / 2 - area.left, y: (r.top + r.bottom) / 2 - area.top };
    };
    parts.arrows.replaceChildren(heads("m"));
    for (const access of run.steps[number].accesses) {
      const cpu = box(parts.cpus[access.process].box);
      const cell = parts.cells.has(access.variable) ? box(parts.cells.get(access.variable)) : null;
      const number_ = run.buffer_names[access.process].length > 1
        ? run.buffer_names[access.process].indexOf(run.variables[access.variable]) : 0;
      const queueNode = parts.queues.get(`${access.process}/${number_}`);
      const queue = queueNode ? box(queueNode) : null;
      if (access.kind === "load" && cell) {
        const past = access.overtakes.length > 0;
        const aside = outerEdge(access.process, cell.x, box);
        const path = `M${cell.x} ${cell.top - 2} C${cell.x} ${cell.top - 46} ${aside} ${cell.top - 24} ${aside} ${cell.top - 74} L${aside} ${cpu.bottom + 3}`;
        arrow(path, past ? "load overtaking" : "load", past ? "overtakes" : "load", aside, cpu.bottom + 22, aside > cpu.x);
      } else if (access.kind === "own load" && queue) {
        arrow(`M${queue.right - 12} ${queue.top + 20} L${queue.right - 12} ${cpu.bottom + 3}`, "load", "own store", queue.right - 12, cpu.bottom + 16, true);
      } else if (access.kind === "pending store" && queue) {
        arrow(`M${queue.x} ${cpu.bottom + 1} L${queue.x} ${queue.top + 2}`, "store", "store", queue.x, cpu.bottom + 16, true);
      } else if (access.kind === "commit" && queue && cell) {
        arrow(`M${queue.x} ${queue.bottom} C${queue.x} ${queue.bottom + 40} ${cell.x} ${cell.top - 50} ${cell.x} ${cell.top - 3}`, access.overtakes.length ? "commit overtaking" : "commit", access.overtakes.length ? "commit, overtakes" : "commit", queue.x, queue.bottom + 20, true);
      } else if (access.kind === "store" && cell) {
        const aside = outerEdge(access.process, cell.x, box);
        arrow(`M${aside} ${cpu.bottom} L${aside} ${cell.top - 74} C${aside} ${cell.top - 24} ${cell.x} ${cell.top - 46} ${cell.x} ${cell.top - 3}`, "store", "store", aside, cpu.bottom + 18, aside > cpu.x);
      }
    }
  }

  // Where an arrow between a process and memory runs down beside the process's buffers.
  function outerEdge(p, towards, box) {
    const cpu = box(parts.cpus[p].box);
    const queues = used[p].map(([, b]) => box(parts.queues.get(`${p}/${b}`)));
    if (!queues.length) return Math.min(Math.max(towards, cpu.left + 20), cpu.right - 20);
    const left = Math.min(...queues.map((q) => q.left)) - 13;
    const right = Math.max(...queues.map((q) => q.right)) + 13;
    return Math.abs(towards - left) < Math.abs(towards - right) ? left : right;
  }

  function heads(prefix) {
    const defs = shape("defs", {});
    for (const kind of ["grey", "blue", "red"]) {
      const marker = shape("marker", { id: `${prefix}-${kind}`, class: kind, viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 6, markerHeight: 6, orient: "auto-start-reverse" });
      marker.append(shape("path", { d: "M0 0 L10 5 L0 10 z" }));
      defs.append(marker);
    }
    return defs;
  }

  function arrow(path, kind, label, x, y, toTheRight) {
    const head = kind.includes("overtaking") ? "red" : kind.includes("load") ? "grey" : "blue";
    parts.arrows.append(shape("path", { d: path, class: kind, "marker-end": `url(#m-${head})` }));
    const text = shape("text", { x: toTheRight ? x + 9 : x - 9, y, class: kind, "text-anchor": toTheRight ? "start" : "end" });
    text.textContent = label;
    parts.arrows.append(text);
  }

  // Lifelines beside the table: from the step that issues a store down to the step that commits it.
  function lifelines() {
    const lines = [];
    run.processes.forEach((_, p) => run.buffer_names[p].forEach((_, b) => {
      const alive = new Map();
      run.steps.forEach((step, n) => step.buffers[p][b].forEach((pending) => {
        if (pending.variable === null) return;
        const key = `${pending.issued}/${pending.variable}`;
        if (!alive.has(key)) alive.set(key, { process: p, from: pending.issued, to: n });
        alive.get(key).to = n;
      }));
      lines.push(...alive.values());
    }));
    const lanes = [];
    lines.sort((a, b) => a.from - b.from);
    for (const line of lines) {
      const mine = lanes.filter((other) => other.process === line.process && other.to >= line.from);
      line.lane = [0, 1, 2, 3].find((lane) => !mine.some((other) => other.lane === lane)) ?? 3;
      line.committed = line.to < last;
      lanes.push(line);
    }
    return lines;
  }
  const lines = lifelines();

  function drawLifelines() {
    timeline.querySelector("svg")?.remove();
    const area = timeline.getBoundingClientRect();
    if (!area.width) return;
    const svg = shape("svg", { class: "lifelines", width: area.width, height: area.height });
    svg.append(heads("t"));
    const middle = (step, p) => {
      const r = rows[step].querySelector(`[data-process="${p}"]`).getBoundingClientRect();
      return { x: r.right - area.left, y: r.top - area.top + 16, bottom: r.bottom - area.top };
    };
    const laneOf = new Map();
    for (const line of lines) {
      const group = shape("g", { class: colour(line.process) });
      const start = middle(line.from, line.process);
      const stop = middle(line.committed ? line.to + 1 : end, line.process);
      const x = start.x - 12 - 9 * line.lane;
      laneOf.set(`${line.process}/${line.from}`, x);
      const y = line.committed ? stop.y : stop.bottom;
      group.append(shape("line", { x1: x, x2: x, y1: start.y, y2: y, class: line.committed ? "" : "late" }), shape("circle", { cx: x, cy: start.y, r: 4 }));
      if (line.committed) group.append(shape("circle", { cx: x, cy: y, r: 3 }));
      svg.append(group);
    }
    // A few arrows are always shown; of many, only those of the current step, or nobody could follow them.
    const few = run.overtaken.length <= 4;
    for (const pair of run.overtaken) {
      const now = pair.by === current || (!few && pair.store === current);
      if (!few && !now) continue;
      const x = laneOf.get(`${pair.process}/${pair.store}`);
      if (x === undefined) continue;
      const from = middle(pair.by, pair.process);
      const to = middle(pair.store, pair.process);
      const out = Math.min(x, from.x - 30) - 16;
      svg.append(shape("path", { d: `M${x - 7} ${from.y} C${out} ${from.y - 4} ${out} ${to.y + 6} ${x - 7} ${to.y + 3}`, class: `jump${now ? " now" : ""}`, "marker-end": "url(#t-red)" }));
    }
    timeline.append(svg);
  }

  // The source: the line of the step, and the characters of its statement.
  const shownLines = [];
  function drawSource(number) {
    for (const { line, text } of shownLines.splice(0)) {
      line.classList.remove("now", ...[0, 1, 2, 3, 4, 5].map(colour));
      line.querySelector("code").textContent = text;
    }
    for (const chip of document.querySelectorAll(".chip")) {
      if (Number(chip.dataset.step) === number) chip.setAttribute("aria-current", "step");
      else chip.removeAttribute("aria-current");
    }
    for (const action of run.steps[number].actions) {
      if (action.source === null) continue;
      const line = document.querySelector(`[data-source="${action.source}"][data-line="${action.line}"]`);
      if (!line) continue;
      const code = line.querySelector("code");
      const text = code.textContent;
      shownLines.push({ line, text });
      line.classList.add("now", colour(action.process));
      code.replaceChildren(text.slice(0, action.first_column), element("mark", "", text.slice(action.first_column, action.last_column)), text.slice(action.last_column));
      const view = line.closest(".code");
      const place = line.offsetTop - view.offsetTop;
      if (place < view.scrollTop + 30 || place > view.scrollTop + view.clientHeight - 60) view.scrollTop = place - view.clientHeight / 2;
    }
  }

  const listed = (numbers) => `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;

  // The step in one or two sentences, for people and for screen readers.
  function sentences(number) {
    if (number === 0) return [["", "The start: nothing has happened yet."], ["", " Press → to take the first step."]];
    const step = run.steps[number];
    const said = [];
    for (const action of step.actions) {
      const what = step.kind === "commit" ? "" : `${action.text}. `;
      said.push(["b", run.processes[action.process]], ["", action.line ? `, line ${action.line}${action.calls ? ` (called from ${action.calls})` : ""}: ${what}` : `: ${what}`]);
    }
    for (const access of step.accesses) {
      const what = equation(access.variable, access.value);
      if (access.kind === "load") said.push(["", `Reads ${what} from memory. `]);
      if (access.kind === "own load") said.push(["", `Reads ${what} from its own store buffer. `]);
      if (access.kind === "pending store") said.push(["", `The store ${what} waits in the buffer; nobody else sees it yet. `]);
      if (access.kind === "store") said.push(["", `${what} reaches memory at once. `]);
      if (access.kind === "commit") said.push(["", `${what} leaves the buffer and reaches memory. `]);
      if (access.overtakes.length === 1) said.push(["alarm", `This overtakes its own store of step ${access.overtakes[0]}, which is still pending. `]);
      if (access.overtakes.length > 1) said.push(["alarm", `This overtakes its own stores of steps ${listed(access.overtakes)}, which are still pending. `]);
    }
    if (step.failure) said.push(["alarm", `${step.failure}.`]);
    if (number === end && !step.failure) said.push(["", run.loop_start === null ? "This is the last step." : `Then again from step ${run.loop_start}.`]);
    return said;
  }

  function go(number, { scroll = true } = {}) {
    current = Math.min(last, Math.max(0, number));
    if (run.steps[current].minor) current = preceding(current);
    slider.value = current;
    slider.setAttribute("aria-valuetext", current === 0 ? "start" : `step ${current} of ${last}`);
    document.getElementById("position").textContent = `${current} / ${last}`;
    document.getElementById("say").replaceChildren(...sentences(current).map(([kind, text]) =>
      kind === "b" ? element("b", "", text) : element("span", kind, text)));
    for (const button of document.querySelectorAll("[data-go]")) {
      const back = ["first", "back"].includes(button.dataset.go);
      button.disabled = back ? current === 0 : current === end;
    }
    rows.forEach((row, n) => (n === current ? row.setAttribute("aria-current", "step") : row.removeAttribute("aria-current")));
    const steps = document.getElementById("steps");
    const top = rows[current].offsetTop;
    if (top < steps.scrollTop + 60 || top > steps.scrollTop + steps.clientHeight - 60) steps.scrollTop = top - steps.clientHeight / 2;
    drawState(current);
    drawArrows(current);
    drawLifelines();
    if (scroll) drawSource(current);
    const place = chosen ? `#run=${chosen}&step=${current}` : current ? `#step=${current}` : "#start";
    try { history.replaceState(null, "", place); } catch { /* not allowed */ }
  }

  // What the page says of steps is said of its own run: there the numbers lead, whichever run is shown.
  function show(number, step = 0) {
    location.hash = number ? `#run=${number}&step=${step}` : `#step=${step}`;
    location.reload();
  }

  function showChosen() {
    for (const button of document.querySelectorAll(".outcome")) button.setAttribute("aria-pressed", String(Number(button.dataset.run) === chosen));
    if (!chosen) return;
    document.getElementById("timeline").hidden = true;
    timeline.hidden = false;
    slider.max = last;
    document.getElementById("run-facts").textContent = `to ${outcomes[chosen - 1].title} ${last} steps, replayed under ${run.model}`;
    for (const marks of document.querySelectorAll(".marks")) marks.hidden = true;
  }

  build();
  showChosen();
  slider.addEventListener("input", () => go(Number(slider.value)));
  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-go], [data-step], button[data-run]");
    if (!target) return;
    if (target.dataset.run) return show(Number(target.dataset.run));
    if (chosen && target.matches(".steplink")) return show(0, Number(target.dataset.step));
    const moves = { first: 0, back: preceding(current), next: following(current), last };
    go(target.dataset.go ? moves[target.dataset.go] : Number(target.dataset.step));
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === slider) return;
    const moves = { ArrowLeft: preceding(current), ArrowRight: following(current), Home: 0, End: last };
    if (!(event.key in moves)) return;
    event.preventDefault();
    go(moves[event.key]);
  });
  addEventListener("resize", () => go(current, { scroll: false }));
  timeline.closest("details").addEventListener("toggle", drawLifelines);
  const wanted = /\bstep=(\d+)$/.exec(location.hash);
  go(wanted ? Number(wanted[1]) : 0);
})();

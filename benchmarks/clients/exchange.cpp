// PRODUCERS threads hand one number each to a consumer, through PUT(number) and TAKE(number), which says whether it got
// one, and what they wrote before with it. The rest is taken at the end: every number once.
#include <cassert>
#include <thread>
#include HEADER

#ifndef PRODUCERS
#define PRODUCERS 1
#endif
static int taken[PRODUCERS], content[PRODUCERS + 1];
static QUEUE;

static void produce(int number) {
  content[number] = 10 + number;
  PUT(number);
}

static void consume() {
  int number = 0;
  if (TAKE(number)) {
    assert(number >= 1 && number <= PRODUCERS);
    assert(content[number] == 10 + number);
    taken[number - 1]++;
  }
}

int main() {
  std::thread consumer(consume);
#if PRODUCERS == 2
  std::thread other(produce, 2);
#endif
  produce(1);
#if PRODUCERS == 2
  other.join();
#endif
  consumer.join();
  for (int i = 0; i < PRODUCERS; i++) consume();
  for (int number : taken) assert(number == 1);
  return 0;
}

export { LAST_RFC3339_MS, MAX_TIMER_MS, toRfc3339, toRfc3339Micro } from './clock.js';
export type { Clock, TimerHandle } from './clock.js';
export { doublingDelayMs } from './doubling-delay.js';
export type { DoublingDelay } from './doubling-delay.js';
export { atEndOfTurn, nextTurn } from './turns.js';
export { FakeClock } from './fake-clock.js';
export { SeededRandom, SystemRandom, jitter } from './random-source.js';
export type { RandomSource } from './random-source.js';
export { SystemClock } from './system-clock.js';

export { LAST_RFC3339_MS, toRfc3339, toRfc3339Micro } from './clock.js';
export type { Clock, TimerHandle } from './clock.js';
export { ExpiringMap } from './expiring-map.js';
export { keepFollowing } from './keep-following.js';
export type { FollowOptions } from './keep-following.js';
export { pause } from './pause.js';
export { pauseUntilBeat, untilBeatMs } from './pause-until-beat.js';
export {
  formatGoDuration,
  parseDuration,
  parseGoDuration,
  parseGoDurationMs,
  renderDuration,
} from './duration.js';
export { doublingDelayMs } from './doubling-delay.js';
export type { DoublingDelay } from './doubling-delay.js';
export { atOnce, LongWork } from './long-work.js';
export type { Pieces } from './long-work.js';
export { atEndOfTurn, nextTurn, replaceTurns } from './turns.js';
export { FakeClock } from './fake-clock.js';
export { SeededRandom, SystemRandom, jitter, uuidOf } from './random-source.js';
export type { RandomSource } from './random-source.js';
export { SystemClock } from './system-clock.js';

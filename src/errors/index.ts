export {
  IllegalStateError,
  InvalidOptionError,
  KeyLockHeldError,
  KeyLockLostError,
  LeaseLostError,
  NewerStateError,
  RollkeeperError,
  ShutdownError,
  StaleCacheError,
  StartupError,
  TerminalError,
  TimeoutError,
  UnsupportedError,
  errorMessage,
  hasCode,
  isCancellation,
} from './rollkeeper-error.js';
export type { ErrorCode } from './rollkeeper-error.js';

import { errorMessage } from '../../base/errors/index.js';
import type { EventNote } from '../events/event-recorder.js';

/** Of the error, so that the note stays within the 1024 characters that newer event APIs allow. Characters. */
const LONGEST_ERROR = 700;

/**
 * The Warning on an object whose key was parked: why, and how it is tried again. The same error makes the same words, so that
 * Events are counted and not added.
 */
export function parkedNote(controller: string, key: string, error: unknown): EventNote {
  const text = errorMessage(error);
  const why = text.length > LONGEST_ERROR ? `${text.slice(0, LONGEST_ERROR - 1)}…` : text;
  return {
    type: 'Warning',
    reason: 'SyncParked',
    message: `The ${controller} controller has given up for now: ${why}. It tries again when the object changes, every few minutes, or with: rollkeeper queue unpark ${controller} ${quoted(key)}`,
  };
}

/** For a shell: the collector's keys hold a `|`. */
function quoted(key: string): string {
  return /^[\w./-]+$/.test(key) ? key : `'${key}'`;
}

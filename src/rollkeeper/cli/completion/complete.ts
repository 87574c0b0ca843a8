import type { Clock } from '@rollkeeper/machinery/clock';
import type { CommandModel } from './command-model.js';
import type { AskedNames, Candidate, Completion } from './decide-completion.js';
import { decideCompletion } from './decide-completion.js';

/** Bits of the last line, as cobra has them: kubectl reads them as well. */
const NO_SPACE = 2;
const NO_FILES = 4;
/** A shell waits meanwhile, so that no names are better than late ones. */
const NAMES_WITHIN_MS = 2000;

/** Reads names. May fail: then none are offered. */
export type ReadNames = (
  asked: AskedNames,
  api: Completion['api'],
  signal: AbortSignal,
) => Promise<readonly string[]>;

interface CompleteOptions {
  readonly clock: Clock;
  /** Loads the reader of names when they are needed. */
  readonly loadReader: () => Promise<ReadNames>;
}

/**
 * The answer to a shell: a candidate a line, its description behind a tab, and at last a colon with a number that says how to
 * continue. Never fails.
 * @param words those after the program's name; the last one is being typed
 */
export async function complete(
  program: CommandModel,
  words: readonly string[],
  options: CompleteOptions,
): Promise<string> {
  const decided = decideCompletion(program, words);
  const current = words.at(-1) ?? '';
  const names = await namesWithin(decided, options);
  const before = decided.names?.of === 'objects' ? decided.names.before : '';
  const typed =
    current.startsWith('-') && current.includes('=') ? current.slice(0, current.indexOf('=') + 1) : '';
  const candidates = [
    ...decided.candidates,
    ...names.map((name): Candidate => ({ value: `${typed}${before}${name}` })),
  ].filter(({ value }) => value.startsWith(current));
  const directive = (decided.noSpace ? NO_SPACE : 0) + (decided.files ? 0 : NO_FILES);
  return [...candidates.map(lineOf), `:${directive}`].join('\n');
}

async function namesWithin(
  { api, names }: Completion,
  { clock, loadReader }: CompleteOptions,
): Promise<readonly string[]> {
  if (!names) return [];
  const readNames = await loadReader();
  const done = new AbortController();
  const late = clock.sleep(NAMES_WITHIN_MS, done.signal).then(none, none);
  try {
    return await Promise.race([readNames(names, api, done.signal).catch(none), late]);
  } finally {
    done.abort();
  }
}

const none = (): readonly string[] => [];

function lineOf({ description = '', value }: Candidate): string {
  return description === '' ? value : `${value}\t${description}`;
}

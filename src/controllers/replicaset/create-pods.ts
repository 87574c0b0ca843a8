import type { SyncAccess } from '@rollkeeper/runtime';
import { Pod } from '@rollkeeper/machinery/kubernetes';
import type { CreateOutcome, PodControl } from '../shared/index.js';
import { FAILED_CREATE, slowStartBatch } from '../shared/index.js';
import type { PodIntents } from './pod-intents.js';
import type { ManageFailure } from './status.js';

/** Limit of rounds in one sync that replace names taken by other pods. */
const MAX_NAME_ROUNDS = 3;

interface CreatePodsInput {
  readonly names: readonly string[];
  /** As stored. */
  readonly intents: PodIntents;
  readonly control: PodControl;
  readonly podOf: (name: string) => Pod;
  readonly context: Pick<SyncAccess, 'signal' | 'intents'>;
  /** Chooses names outside of `taken`. */
  readonly otherNames: (count: number, taken: ReadonlySet<string>) => readonly string[];
}

interface CreatePodsResult {
  /** As stored now. */
  readonly stored: PodIntents;
  readonly created: number;
  /** Names without an answer: their pods may exist. */
  readonly unanswered: readonly string[];
  readonly failure?: ManageFailure;
}

/**
 * Creates in slow-start batches; names taken by other pods are replaced, stored, and retried. Only a name without an
 * answer may have to be looked up later: a refused or untried pod does not exist, and the next sync must have seen one
 * that was created or found.
 */
export async function createPods(input: CreatePodsInput): Promise<CreatePodsResult> {
  const { control, context, otherNames, podOf } = input;
  let { intents: stored, names } = input;
  let created = 0;
  const used = new Set(names);
  for (let round = 0; ; round++) {
    const create = (name: string): Promise<CreateOutcome> => control.tryCreate(podOf(name));
    const { outcomes } = await slowStartBatch(names, create, stopsBatches);
    context.signal.throwIfAborted();
    created += namesOf(outcomes, 'created').length;
    settleFound(outcomes, context);
    const unanswered = namesOf(outcomes, 'unknown');
    const taken = namesOf(outcomes, 'taken');
    const error = errorOf(outcomes) ?? (round === MAX_NAME_ROUNDS ? namesTaken(taken) : undefined);
    if (error) return { stored, created, unanswered, failure: { reason: FAILED_CREATE, error } };
    if (taken.length === 0) return { stored, created, unanswered };
    names = otherNames(taken.length, used);
    for (const name of names) used.add(name);
    stored = { ...stored, creates: names };
    await context.intents.store(stored);
  }
}

/** A pod that existed was found by a read, and not written by this sync: the next one must have seen it as well. */
function settleFound(
  outcomes: readonly CreateOutcome[],
  { intents }: Pick<CreatePodsInput['context'], 'intents'>,
): void {
  for (const outcome of outcomes) {
    if (outcome.kind !== 'exists' || outcome.resourceVersion === undefined) continue;
    intents.settledAt(Pod, outcome.resourceVersion);
  }
}

function stopsBatches({ kind }: CreateOutcome): boolean {
  return kind === 'refused' || kind === 'unknown' || kind === 'pointless';
}

function namesOf(outcomes: readonly CreateOutcome[], ...kinds: readonly CreateOutcome['kind'][]): string[] {
  return outcomes.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);
}

/** The first failure: the one that a person should see first. */
function errorOf(outcomes: readonly CreateOutcome[]): unknown {
  return outcomes.map((outcome) => ('error' in outcome ? outcome.error : undefined)).find(Boolean);
}

function namesTaken(names: readonly string[]): Error | undefined {
  return names.length > 0 ? new Error(`all names tried are taken: ${names.join(', ')}`) : undefined;
}

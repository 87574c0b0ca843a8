import type { SyncAccess } from '@rollkeeper/runtime';
import type { Pod } from '@rollkeeper/machinery/kubernetes';
import type { CreateOutcome, PodControl } from '../shared/index.js';
import { FAILED_CREATE, slowStartBatch } from '../shared/index.js';
import type { PodIntents } from './pod-intents.js';
import type { ManageFailure } from './status.js';

/** Limit of rounds in one sync that replace names taken by other pods. */
const MAX_NAME_ROUNDS = 3;

interface CreatePodsInput {
  readonly names: readonly string[];
  /** Those that cannot have been tried before. */
  readonly fresh: ReadonlySet<string>;
  /** As stored. */
  readonly intents: PodIntents;
  readonly control: PodControl;
  readonly podOf: (name: string) => Pod;
  readonly context: Pick<SyncAccess, 'signal' | 'intents'>;
  /** Chooses names outside of `taken`. */
  readonly otherNames: (count: number, taken: ReadonlySet<string>) => readonly string[];
}

export interface CreatePodsResult {
  /** As stored now. */
  readonly intents: PodIntents;
  readonly created: number;
  /** Names that certainly belong to no pod of ours. */
  readonly dropped: ReadonlySet<string>;
  readonly failure?: ManageFailure;
}

/**
 * Creates in slow-start batches; names taken by other pods are replaced, stored, and retried.
 *
 * A name that an earlier sync may have tried stays an intent even if it is refused or not tried now: a quota is checked
 * before the name is, so a refusal does not prove that the pod does not exist.
 */
export async function createPods(input: CreatePodsInput): Promise<CreatePodsResult> {
  const { control, context, otherNames, podOf } = input;
  let { names, fresh, intents } = input;
  let created = 0;
  const dropped = new Set<string>();
  for (let round = 0; ; round++) {
    const create = (name: string): Promise<CreateOutcome> => control.tryCreate(podOf(name));
    const { outcomes, untried } = await slowStartBatch(names, create, stopsBatches);
    context.signal.throwIfAborted();
    created += namesOf(outcomes, 'created').length;
    const undone = [...namesOf(outcomes, 'refused', 'pointless'), ...untried];
    for (const name of undone) if (fresh.has(name)) dropped.add(name);
    const taken = namesOf(outcomes, 'taken');
    for (const name of taken) dropped.add(name);
    const error = errorOf(outcomes) ?? (round === MAX_NAME_ROUNDS ? namesTaken(taken) : undefined);
    if (error) return { intents, created, dropped, failure: { reason: FAILED_CREATE, error } };
    if (taken.length === 0) return { intents, created, dropped };
    names = otherNames(taken.length, new Set(intents.creates));
    fresh = new Set(names);
    intents = { ...intents, creates: [...intents.creates.filter((name) => !dropped.has(name)), ...names] };
    await context.intents.store(intents);
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

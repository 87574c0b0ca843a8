import type { ApiClient } from '@rollkeeper/runtime';
import { StaleCacheError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { Pod, isPodActive } from '@rollkeeper/machinery/kubernetes';
import { FIRST_TO_GO, firstToGo, readFirstToGo, renderFirstToGo } from '../../../shared/index.js';
import { DESIRED_REPLICAS, sizeAnnotation } from '../../kubernetes/annotations.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { RolloutDraft } from '../../kubernetes/draft.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import { REMOVE_PODS } from './settings.js';
import { selectorEqualities } from '../../kubernetes/deployment-api.js';
import type { PodsOf } from '../../kubernetes/recreate.js';

/** A pod that a person wants to go. */
export interface NamedVictim {
  readonly name: string;
  /** @default whichever pod has the name */
  readonly uid?: string;
}

/** More do not fit into an annotation with their UIDs in any case. */
const MOST_NAMED = 1000;
const WORD = /^([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)(?:@([-A-Za-z0-9]+))?$/;

/** `web-a, web-b@UID`; text: what is wrong with it. */
export function parseVictims(text: string): readonly NamedVictim[] | string {
  const words = text.split(',').map((word) => word.trim());
  const victims: NamedVictim[] = [];
  for (const word of words) {
    const [, name, uid] = WORD.exec(word) ?? [];
    if (name === undefined) return `"${word}" is neither the name of a pod nor NAME@UID`;
    if (victims.some((victim) => victim.name === name)) return `pod "${name}" is named twice`;
    victims.push({ name, ...(uid !== undefined && { uid }) });
  }
  return victims.length > MOST_NAMED ? `${victims.length} pods are more than ${MOST_NAMED}` : victims;
}

export function renderVictims(victims: readonly NamedVictim[]): string {
  return victims.map(({ name, uid }) => (uid === undefined ? name : `${name}@${uid}`)).join(',');
}

/** The answer to the wish that certain pods go with a change of `replicas`. */
export type Removal =
  | { readonly kind: 'refused'; readonly why: string }
  /** An earlier pass has passed it on to the ReplicaSets, and could not say so any more. */
  | { readonly kind: 'handed' }
  | { readonly kind: 'accepted'; readonly pods: ReadonlyMap<string, readonly DeepReadonly<Pod>[]> };

/**
 * Whether the named pods may go: each is a pod of the Deployment, and its ReplicaSet gives up at least as many pods as are
 * named.
 * @param decide the pass as it would be without the wish
 * @returns undefined: nothing is asked for
 */
export function decideRemoval(
  draft: RolloutDraft,
  podsOf: PodsOf,
  decide: (scratch: RolloutDraft) => void,
): Removal | undefined {
  const text = draft.annotations[REMOVE_PODS];
  if (text === undefined || draft.observed.metadata.deletionTimestamp !== undefined) return undefined;
  const victims = parseVictims(text);
  if (typeof victims === 'string') return { kind: 'refused', why: victims };
  const sets = draft.living.filter(({ observed }) => observed !== undefined);
  if (victims.every(({ name }) => sets.some((set) => isHanded(set, name)))) return { kind: 'handed' };
  if (draft.spec.paused) return { kind: 'refused', why: 'the rollout is paused' };
  const pods = new Map<string, DeepReadonly<Pod>[]>();
  for (const victim of victims) {
    const found = findVictim(victim, sets, podsOf);
    if (typeof found === 'string') return { kind: 'refused', why: found };
    pods.set(found.set.name, [...(pods.get(found.set.name) ?? []), found.pod]);
  }
  const scratch = withoutWish(draft);
  decide(scratch);
  for (const set of scratch.replicaSets) {
    const named = pods.get(set.name)?.length ?? 0;
    const given = (set.observed?.spec.replicas ?? 1) - (set.deleted ? 0 : set.replicas);
    if (named > Math.max(0, given)) {
      const why = `${named} pods of ReplicaSet "${set.name}" are named, and it gives up ${Math.max(0, given)}`;
      return { kind: 'refused', why };
    }
  }
  return { kind: 'accepted', pods };
}

function isHanded({ observed }: ReplicaSetDraft, name: string): boolean {
  const first = observed && readFirstToGo(observed, observed.spec.replicas ?? 1);
  return first?.beforeUnready === true && Object.hasOwn(first.pods, name);
}

function findVictim(
  { name, uid }: NamedVictim,
  sets: readonly ReplicaSetDraft[],
  podsOf: PodsOf,
): { readonly set: ReplicaSetDraft; readonly pod: DeepReadonly<Pod> } | string {
  const [found] = sets.flatMap((set) =>
    podsOf(set)
      .filter(({ metadata }) => metadata.name === name)
      .map((pod) => ({ set, pod })),
  );
  if (!found) return `pod "${name}" is not one of its pods`;
  if (uid !== undefined && found.pod.metadata.uid !== uid)
    return `pod "${name}" is another one than was meant: its UID is ${found.pod.metadata.uid ?? 'unknown'}`;
  return isPodActive(found.pod) ? found : `pod "${name}" is ending already`;
}

function withoutWish(draft: RolloutDraft): RolloutDraft {
  const { [REMOVE_PODS]: _wish, ...annotations } = draft.annotations;
  const { now, nowMs, observed, replicaSets } = draft;
  const deployment = { ...observed, metadata: { ...observed.metadata, annotations } };
  const owned = replicaSets.flatMap((set) => set.observed ?? []);
  return new RolloutDraft({ deployment, owned, adopted: [], now, nowMs });
}

/**
 * Before the pass: a wish that is refused is taken away, and the size that came with it as well, so that no other pods go in place of
 * those that were named.
 */
export function refuseRemoval(draft: RolloutDraft, why: string): void {
  const { replicas } = draft;
  const sizes = new Set(
    activeOf(draft.living).map(({ annotations }) => sizeAnnotation(annotations, DESIRED_REPLICAS)),
  );
  const [before] = sizes;
  const isKnown = sizes.size === 1 && before !== undefined && before !== replicas;
  if (isKnown) draft.spec = { ...draft.spec, replicas: before };
  forgetWish(draft);
  const size = isKnown
    ? `spec.replicas is ${before} again, in place of ${replicas}`
    : `spec.replicas stays ${replicas}`;
  draft.note({
    type: 'Warning',
    reason: 'PodRemovalRefused',
    message: `No named pod is removed: ${why}; ${size}`,
  });
}

/** After the pass: the names go to the ReplicaSets with their new sizes. */
export function handOverRemoval(draft: RolloutDraft, removal: Exclude<Removal, { kind: 'refused' }>): void {
  const names = draft.annotations[REMOVE_PODS] ?? '';
  if (removal.kind === 'accepted') {
    for (const set of draft.living) {
      const pods = removal.pods.get(set.name);
      if (!pods) continue;
      const first = renderFirstToGo(firstToGo(set.replicas, pods, { beforeUnready: true }));
      draft.annotate(set, { ...set.annotations, [FIRST_TO_GO]: first });
    }
  }
  forgetWish(draft);
  const victims = parseVictims(names);
  const listed = typeof victims === 'string' ? names : victims.map(({ name }) => name).join(', ');
  const message = `Removing ${listed}, as asked, with the change to ${draft.replicas} replicas`;
  draft.note({ type: 'Normal', reason: 'NamedPodsRemoved', message });
}

function forgetWish(draft: RolloutDraft): void {
  const { [REMOVE_PODS]: _wish, ...others } = draft.annotations;
  draft.replaceMetadata(others);
}

/**
 * A pod that is named may be younger than the cache: what a tool has seen must not be refused for that. One list, only for names that
 * the cache does not have.
 * @throws StaleCacheError if the API has one of them: retry when the cache has it too
 */
export async function recheckNamedPods(
  deployment: DeepReadonly<Deployment>,
  isCached: (name: string) => boolean,
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  const victims = parseVictims(deployment.metadata.annotations?.[REMOVE_PODS] ?? '');
  const unknown = typeof victims === 'string' ? [] : victims.filter(({ name }) => !isCached(name));
  if (unknown.length === 0) return;
  const { name, namespace } = deployment.metadata;
  const { items } = await client.list<Pod>(Pod, {
    ...{ namespace, labelSelector: selectorEqualities(deployment), signal },
  });
  const found = items.find(({ metadata }) => unknown.some((victim) => victim.name === metadata.name));
  if (found)
    throw new StaleCacheError(
      `Deployment ${namespace}/${name}: named pod ${found.metadata.name} is not in the cache`,
    );
}

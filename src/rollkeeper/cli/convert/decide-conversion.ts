import type { Deployment, ReplicaSet, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  compileLabelSelector,
  controllerOf,
  isEmptySelector,
  tryCompileLabelSelector,
} from '@rollkeeper/machinery/kubernetes';
import {
  CONVERTED_FROM,
  RESUME,
  convertedDeployment,
  isMadeFrom,
  isMadeFromLatest,
  withoutMarks,
} from './converted-deployment.js';

/** The state of one Deployment in both APIs. */
export interface ConversionState {
  /** In the API that it leaves. */
  readonly source?: Deployment;
  /** In the API that it moves to. */
  readonly target?: Deployment;
  /** The ReplicaSets of the namespace. */
  readonly replicaSets: readonly ReplicaSet[];
  /** Every Deployment of the namespace, of both APIs. */
  readonly deployments: readonly Deployment[];
}

/** The next step; look again after it. */
export type ConversionStep =
  /** Its controller must create no more ReplicaSets: a late one would be lost. */
  | { readonly type: 'pause'; readonly object: Deployment }
  | { readonly type: 'create' | 'update'; readonly object: Deployment }
  /**
   * The controller has not observed its current spec yet; a controller that does not observe would not adopt either.
   */
  | { readonly type: 'await-controller'; readonly of: Deployment }
  /** Deletes the source and orphans its ReplicaSets, with a precondition on its version. */
  | { readonly type: 'release'; readonly source: Deployment }
  | { readonly type: 'await-release'; readonly finalizers: readonly string[] }
  /** The target's controller has not adopted these yet. */
  | { readonly type: 'await-adoption'; readonly replicaSets: readonly string[] }
  | { readonly type: 'resume'; readonly object: Deployment }
  | { readonly type: 'done' }
  | { readonly type: 'refuse'; readonly why: string };

/**
 * Decides the next step of a conversion from the current state alone, so that it can continue after a crash. At every
 * point, one of the two objects holds the Deployment's spec, and at most one of them is not paused: pause the source,
 * create the target (paused), delete the source without its ReplicaSets, wait until the target has adopted them all,
 * resume it. If asked to reverse half way, it goes back.
 */
export function decideConversion(state: ConversionState, to: ResourceType): ConversionStep {
  const { source, target } = state;
  if (source) return decideWithSource(source, state, to);
  if (!target) return { type: 'refuse', why: 'there is no such Deployment in either API' };
  const { annotations = {} } = target.metadata;
  if (annotations[CONVERTED_FROM] === undefined && annotations[RESUME] === undefined) return { type: 'done' };
  const left = notYetAdopted(state.replicaSets, target);
  if (left.length > 0) return { type: 'await-adoption', replicaSets: left };
  return { type: 'resume', object: withoutMarks(target) };
}

function decideWithSource(source: Deployment, state: ConversionState, to: ResourceType): ConversionStep {
  const { target } = state;
  const { deletionTimestamp, finalizers = [] } = source.metadata;
  const why = whyNot(source, target);
  if (why !== undefined) return { type: 'refuse', why };
  if (deletionTimestamp !== undefined) return { type: 'await-release', finalizers };
  const taken = whatARivalWouldTake(source, state);
  if (taken !== undefined) return { type: 'refuse', why: taken };
  if (!source.spec.paused) return { type: 'pause', object: paused(source) };
  if (!target) return { type: 'create', object: convertedDeployment(source, to) };
  // When reversing an unfinished conversion, the target is the original.
  const isWayBack = isMadeFrom(source, target);
  if (!isWayBack && !isMadeFromLatest(target, source))
    return { type: 'update', object: convertedDeployment(source, to, target) };
  const unseen = isWayBack ? undefined : [target, source].find((each) => !isObserved(each));
  return unseen ? { type: 'await-controller', of: unseen } : { type: 'release', source };
}

function whyNot(source: Deployment, target: Deployment | undefined): string | undefined {
  const { deletionTimestamp, finalizers = [] } = source.metadata;
  const owner = controllerOf(source);
  if (owner) return `${owner.kind} ${owner.name} controls it and would make it again`;
  if (deletionTimestamp !== undefined && finalizers.includes('foregroundDeletion'))
    return 'it is being deleted, and its pods with it';
  if (deletionTimestamp !== undefined && !target) return 'it is being deleted';
  if (!target) return undefined;
  if (target.metadata.deletionTimestamp !== undefined)
    return `the one of ${target.apiVersion} is being deleted; wait until it is gone`;
  if (isMadeFrom(target, source) || isMadeFrom(source, target)) return undefined;
  return `there is another one of that name in ${target.apiVersion}, which was not made from it`;
}

/**
 * Between release and adoption the ReplicaSets are orphans, and any Deployment adopts those that its selector matches.
 * The converted one would then start over with new pods.
 */
function whatARivalWouldTake(
  source: Deployment,
  { deployments, replicaSets, target }: ConversionState,
): string | undefined {
  const owned = replicaSets.filter((replicaSet) => controllerOf(replicaSet)?.uid === source.metadata.uid);
  const parties = [source.metadata.uid, target?.metadata.uid];
  for (const { apiVersion, metadata, spec } of deployments) {
    const selects = tryCompileLabelSelector(spec.selector);
    if (parties.includes(metadata.uid) || metadata.deletionTimestamp !== undefined) continue;
    // A Deployment that selects everything is ignored by its controller, and adopts nothing.
    if (!selects || isEmptySelector(spec.selector)) continue;
    const taken = owned.find((replicaSet) => selects(replicaSet.metadata.labels));
    if (taken)
      return `Deployment ${metadata.name} of ${apiVersion} selects its ReplicaSet ${taken.metadata.name} as well and could take it meanwhile; give that one another selector first`;
  }
  return undefined;
}

function paused(source: Deployment): Deployment {
  const annotations = { ...source.metadata.annotations, [RESUME]: 'true' };
  return { ...source, metadata: { ...source.metadata, annotations }, spec: { ...source.spec, paused: true } };
}

function isObserved({ metadata, status }: Deployment): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Selected ReplicaSets that are orphaned or still owned by the deleted Deployment. */
function notYetAdopted(replicaSets: readonly ReplicaSet[], target: Deployment): string[] {
  const selects = compileLabelSelector(target.spec.selector);
  const [former] = (target.metadata.annotations?.[CONVERTED_FROM] ?? '').split('/');
  return replicaSets
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && selects(metadata.labels))
    .filter((replicaSet) => [undefined, former].includes(controllerOf(replicaSet)?.uid))
    .map(({ metadata }) => metadata.name);
}

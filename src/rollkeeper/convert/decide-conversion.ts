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

/** What there is of one Deployment in both APIs. */
export interface ConversionState {
  /** In the API that it is to leave. */
  readonly source?: Deployment;
  /** In the API that it goes to. */
  readonly target?: Deployment;
  /** Of the namespace. */
  readonly replicaSets: readonly ReplicaSet[];
  /** Every Deployment of the namespace, of both APIs. */
  readonly deployments: readonly Deployment[];
}

/** The next thing to do; after it one looks again. */
export type ConversionStep =
  /** Its controller makes no ReplicaSet any more: one that came late would be lost. */
  | { readonly type: 'pause'; readonly object: Deployment }
  | { readonly type: 'create' | 'update'; readonly object: Deployment }
  /** The controller of this one has yet to see it as it is: who does not look would not take over either. */
  | { readonly type: 'await-controller'; readonly of: Deployment }
  /** Deletes the source, and lets its ReplicaSets stay, if nobody has changed it since. */
  | { readonly type: 'release'; readonly source: Deployment }
  | { readonly type: 'await-release'; readonly finalizers: readonly string[] }
  /** The target's controller has yet to take these. */
  | { readonly type: 'await-adoption'; readonly replicaSets: readonly string[] }
  | { readonly type: 'resume'; readonly object: Deployment }
  | { readonly type: 'done' }
  | { readonly type: 'refuse'; readonly why: string };

/**
 * Decides the next step of a conversion from nothing but what there is, so that whoever comes after a crash goes on where it
 * ended. At every point one of the two objects says how the Deployment is to be, and at most one of them is not paused:
 * pause the source, make the target (paused), let the source go without its ReplicaSets, wait until the target has them all,
 * resume it. Asked for the way back half way, it goes back.
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
  // On the way back from a conversion that was not finished, the target is what there was before.
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
 * Between the release and the adoption the ReplicaSets are nobody's, and every Deployment adopts what its selector selects.
 * The converted one would then begin anew with new pods.
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
    // Whoever selects everything is left alone by its controller, and takes nothing.
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

/** Those that it selects and nobody controls, or still the one that is gone. */
function notYetAdopted(replicaSets: readonly ReplicaSet[], target: Deployment): string[] {
  const selects = compileLabelSelector(target.spec.selector);
  const [former] = (target.metadata.annotations?.[CONVERTED_FROM] ?? '').split('/');
  return replicaSets
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && selects(metadata.labels))
    .filter((replicaSet) => [undefined, former].includes(controllerOf(replicaSet)?.uid))
    .map(({ metadata }) => metadata.name);
}

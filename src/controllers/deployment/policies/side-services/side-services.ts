import type { DeepReadonly, Deployment, Service } from '@rollkeeper/machinery/kubernetes';
import type { Kind, WatchedKind } from '@rollkeeper/runtime';
import { ReplicaSet, watch } from '@rollkeeper/runtime';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { SelectingService, Services, WatchedServices } from '../blue-green/selecting-services.js';
import { SELECTING_SERVICES, ownSelectorOf } from '../blue-green/selecting-services.js';
import type { Pass, Policy } from '../common/pass.js';
import type { Problem } from '../common/tell.js';
import { SERVICES_NOT_WATCHED, SERVICE_NOT_USABLE, normal } from '../common/tell.js';
import type { AtStep, ExperimentSurroundings } from '../experiment/experiment.js';
import {
  distinctPorts,
  experimentService,
  portsOfContainers,
  type ServicePorts,
} from '../experiment/experiment-services.js';
import {
  isExperimentOf,
  sideLabels,
  sideName,
  sidesOf,
  templateOfSide,
  type Side,
  type SideName,
} from '../experiment/experiment-sets.js';
import type { ExperimentOutcome } from '../steps/experiment-step.js';

/** The Services that experiments may have. */
export interface ExperimentServiceSurroundings {
  /** All Services that there are; 'off' if experiments may have none. @default not known: those of an experiment count as there */
  readonly experimentServices?: WatchedServices;
}

/** A pass, as the Services of experiments know it. */
export interface SideServicePass extends Pass, ExperimentSurroundings, ExperimentServiceSurroundings {
  readonly outcome: Pass['outcome'] & ExperimentOutcome;
}

/**
 * The Services of an experiment that has some: one for each version whose ReplicaSet exists. The garbage collector removes a Service with
 * its ReplicaSet, so the end of the step ends both.
 */
export const SIDE_SERVICES: Policy<SideServicePass> = {
  conclude: (pass) => {
    const { draft, isDeleted, outcome, writes } = pass;
    const latest = latestOf(draft, draft.living);
    if (isDeleted || !outcome.experiment || !latest) return;
    const services = sideServices(draft, latest, outcome.experiment, pass);
    if (services?.kind !== 'known') return;
    for (const object of services.made) {
      const message = `Service "${object.metadata.name}" was made, and selects the pods of an experiment`;
      outcome.actions.push(message);
      writes.experiments.push({ verb: 'serve', object, note: normal('ServiceCreated', message) });
    }
  },
  trouble: ({ outcome }) => outcome.experimentProblem,
};

/**
 * A Service of an experiment that is deleted brings the Deployment back, which makes it again. If the server does not give the list of
 * Services, nothing is watched, and the Deployment says so.
 */
export function watchSideServices(kind: Kind<Deployment>): WatchedKind {
  const watched = watch(
    SELECTING_SERVICES,
    function* ({ metadata: { namespace, ownerReferences = [] } }, listerOf) {
      for (const { kind: ofKind, name, uid } of ownerReferences) {
        const set = ofKind === ReplicaSet.kind ? listerOf(ReplicaSet).get(`${namespace}/${name}`) : undefined;
        if (!set || set.metadata.uid !== uid) continue;
        for (const owner of set.metadata.ownerReferences ?? []) {
          const deployment = listerOf(kind).get(`${namespace}/${owner.name}`);
          if (deployment && isExperimentOf(set, deployment.metadata.uid)) yield deployment.metadata;
        }
      }
    },
    ({ type }) => type === 'deleted',
  );
  return { ...watched, optional: true, urgency: { onlyIfNeeded: true } };
}

/** How the Services of an experiment's versions are. */
export type SideServices =
  | {
      readonly kind: 'known';
      /** To be made now: their ReplicaSets exist. */
      readonly made: readonly Service[];
      /** The names of those that do not exist yet. */
      readonly missing: readonly string[];
    }
  /** The caches are being filled. */
  | { readonly kind: 'unknown' }
  /** One cannot be made before a person has changed something. */
  | { readonly kind: 'trouble'; readonly problem: Problem };

/**
 * The Services of an experiment that has some; undefined if it has none, or if nothing is known of Services.
 * @param latest the ReplicaSet of the new version
 */
export function sideServices(
  draft: RolloutDraft,
  latest: ReplicaSetDraft,
  { experiment, step }: AtStep,
  { experiments, experimentServices: services }: ExperimentSurroundings & ExperimentServiceSurroundings,
): SideServices | undefined {
  if (!experiment.hasServices || !experiments || services === undefined) return undefined;
  if (services === 'off')
    return notWatched('no Services are made: start the controller with --experiment-services');
  if (services.availability === 'refused') return notWatched('the controller may not list Services');
  if (services.availability === 'starting') return { kind: 'unknown' };
  const sides = sidesOf(experiment).flatMap((each) => {
    const template = templateOfSide(draft, latest, each);
    if (!template) return [];
    const names = { ...sideName(draft, latest, step, each.side), side: each.side };
    return [sideService(draft, names, { experiments, services, own: portsOfContainers(template) })];
  });
  const problems = sides.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) return trouble(SERVICE_NOT_USABLE, problems.join('; '));
  return {
    kind: 'known',
    made: sides.flatMap(({ made }) => made ?? []),
    missing: sides.flatMap(({ missing }) => missing ?? []),
  };
}

interface Known {
  readonly experiments: readonly DeepReadonly<ReplicaSet>[];
  readonly services: Services;
  /** The ports of the version's containers. */
  readonly own: ServicePorts;
}

interface NamedSide extends SideName {
  readonly side: Side;
}

function sideService(
  draft: RolloutDraft,
  { hash, replicaSet, service: name, side }: NamedSide,
  { experiments, own, services }: Known,
): { readonly problem?: string; readonly missing?: string; readonly made?: Service } {
  const { namespace = '' } = draft.observed.metadata;
  const set = experiments.find(({ metadata }) => metadata.name === replicaSet);
  const found = services.find(namespace, name);
  if (found) {
    const owner = ownerOf(found, replicaSet);
    if (!owner) return { problem: `Service "${name}" exists, and is not one of its experiment` };
    // One of an earlier run of the same experiment goes with its ReplicaSet.
    const isOwn = owner.uid === set?.metadata.uid && found.metadata.deletionTimestamp === undefined;
    return isOwn ? {} : { missing: name };
  }
  const ports = distinctPorts(servedPorts(draft, services));
  const all = ports.length > 0 ? ports : own;
  if (all.length === 0)
    return {
      problem: `Service "${name}" can have no ports: no Service selects the pods of the Deployment, and its containers name none`,
    };
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return { missing: name };
  // The labels of the ReplicaSet itself are not used, because another client may have changed them.
  const labels = sideLabels(draft.name, side, { hash });
  const member = { metadata: { name: replicaSet, namespace, uid: set.metadata.uid, labels } };
  return { missing: name, made: experimentService(member, all, name) };
}

function ownerOf({ metadata }: DeepReadonly<SelectingService>, replicaSet: string) {
  return metadata.ownerReferences?.find(({ kind, name }) => kind === 'ReplicaSet' && name === replicaSet);
}

/** The ports of the Services that select the Deployment's pods: a side is reached as they are. */
function servedPorts({ observed }: RolloutDraft, services: Services): ServicePorts {
  const { labels = {} } = observed.spec.template.metadata ?? {};
  const selecting = services.inNamespace(observed.metadata.namespace ?? '').filter((service) => {
    const own = Object.entries(ownSelectorOf(service));
    return own.length > 0 && own.every(([label, value]) => labels[label] === value);
  });
  const sorted = selecting.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return sorted.flatMap(({ ports = [] }) => ports.map((port) => ({ ...port })));
}

function notWatched(message: string): SideServices {
  return trouble(SERVICES_NOT_WATCHED, `the experiment has services, and ${message}`);
}

function trouble(reason: Problem['reason'], message: string): SideServices {
  return { kind: 'trouble', problem: { reason, message } };
}

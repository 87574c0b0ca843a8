import type { ApiClient } from '@rollkeeper/client/api-client';
import { nextTurn } from '@rollkeeper/machinery/clock';
import { completed } from '@rollkeeper/controllers/deployment';
import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Deployment,
  Node,
  Pod,
  ReplicaSet,
  apiVersionOf,
  controllerOf,
} from '@rollkeeper/machinery/kubernetes';
import { explainDeployment, notReadyNodes } from '../explain/index.js';
import type { ListReads } from './cluster-reader.js';
import { ClusterReader } from './cluster-reader.js';
import { conclude } from './conclude.js';
import type { DiagnoseOptions } from './diagnose-options.js';
import type { Diagnosis } from './diagnosis.js';
import { findHeldObjects } from './deleting-objects.js';
import { deletionFindings } from './findings.js';
import { KIND_DIAGNOSES } from './kind-diagnoses.js';
import type { KindDiagnosis } from './kind-diagnosis.js';
import type { Workload } from './selector-conflicts.js';
import { selectorConflicts, withConflict } from './selector-conflicts.js';
import type { Need, Snapshot } from './snapshot.js';

/** From this many objects on, the registry is more likely at fault than each image. */
const SEVERAL = 3;

/**
 * Objects that wait for images of the same registry, as one problem each: where many do, it is the registry, its
 * credentials or its rate limit.
 */
function groupByRegistry(problems: readonly Diagnosis[]): readonly Diagnosis[] {
  const byRegistry = Map.groupBy(
    problems.flatMap((problem) => {
      const finding = problem.waitsFor.find(({ cause }) => cause === 'image-pull');
      const registry = finding && registryIn(finding.summary);
      return registry === undefined ? [] : [{ registry, problem }];
    }),
    ({ registry }) => registry,
  );
  return [...byRegistry].flatMap(([registry, entries]): Diagnosis[] => {
    if (entries.length < SEVERAL) return [];
    const objects = entries.map(({ problem: { kind, name, namespace } }) => ({
      kind,
      name,
      ...(namespace !== undefined && { namespace }),
    }));
    const summary = `images of ${registry} cannot be pulled for ${entries.length} objects`;
    const unblockedBy = [
      `check the registry ${registry}: does it answer, are its credentials (imagePullSecrets) valid, is its rate limit reached?`,
    ];
    return [
      {
        kind: 'Registry',
        name: registry,
        state: 'blocked',
        cause: 'image-pull',
        sentence: `Stuck: ${summary}.`,
        waitsFor: [{ cause: 'image-pull', severity: 'blocked', summary, objects, unblockedBy }],
        unblockedBy,
        notes: [],
      },
    ];
  });
}

/** The registry of the image that a message quotes; Docker's own where the reference names none. */
export function registryIn(message: string): string | undefined {
  const image = /image "([^"]+)"/.exec(message)?.[1];
  if (image === undefined) return undefined;
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? first : 'docker.io';
}

export interface FindProblemsOptions extends DiagnoseOptions {
  /** @default all namespaces, and the objects of the cluster */
  readonly namespace?: string;
  /** Kinds that are looked at besides Deployments. @default all that can be diagnosed */
  readonly kinds?: readonly KindDiagnosis[];
  /** Whether lists of the cluster, such as that of nodes, are left out where a namespace is given. @default false: they are tried */
  readonly staysInNamespace?: boolean;
  /** Whether a change that no controller has observed, of an unknown time, is an old one. @default false */
  readonly areChangesOld?: boolean;
  /** Whether objects of all other kinds are looked at as well, for those that a finalizer holds: reads many lists. @default false */
  readonly ofEveryKind?: boolean;
  /**
   * Until when a list of another kind that was refused is not asked for again, epoch milliseconds, by its type. For one that looks again
   * and again.
   */
  readonly refused?: Map<string, number>;
  /** Problems beside the objects of the API: of replicas, of certificates. @default none */
  readonly beside?: () => Promise<readonly Diagnosis[]>;
  /** The Deployments that are looked at. @default those of apps/v1 */
  readonly deploymentTypes?: readonly ResourceType[];
}

/** The problems, the worst first. */
export interface Problems {
  readonly problems: readonly Diagnosis[];
  /** Objects that were looked at. */
  readonly looked: number;
  readonly notes: readonly string[];
  /** The lists that it took. */
  readonly reads: ListReads;
}

/** Objects that are judged before other work of the process has its turn: renewals of the lease, above all. */
const AT_ONCE = 50;

/** Kinds whose owner reports on them. */
const TOLD_BY_OWNER: ReadonlySet<string> = new Set(['ReplicaSet', 'Pod', 'Job']);

/**
 * Looks at every object of the kinds that can be diagnosed, and at Deployments, and returns those that something
 * blocks. An object whose owner is one of them is left to its owner. Each list is read once.
 * @throws what the API answers, but for lists that are not served or not allowed: those are in the notes
 */
export async function findProblems(client: ApiClient, options: FindProblemsOptions): Promise<Problems> {
  const { deploymentTypes = [Deployment], namespace, nowMs } = options;
  const reader = new ClusterReader(client, options);
  const kinds = (options.kinds ?? KIND_DIAGNOSES).filter(
    ({ type }) => namespace === undefined || type.namespaced,
  );
  const needs = [
    ...kinds.flatMap((kind) => [{ type: kind.type, ...scope(namespace) }, ...kind.needs(namespace)]),
    ...[...deploymentTypes, ReplicaSet, Pod].map((type) => ({ type, ...scope(namespace) })),
    ...(options.cached?.(Node) ? [{ type: Node }] : []),
  ];
  const isWithin = ({ type }: Need): boolean => type.namespaced || options.staysInNamespace !== true;
  const snapshot = await reader.snapshot(needs.filter(isWithin));
  let looked = 0;
  const problems: Diagnosis[] = [];
  for (const kind of kinds) {
    const objects = snapshot
      .list<KubernetesObject>(kind.type, kind.type.namespaced ? namespace : undefined)
      .filter((object) => !isToldByOwner(kind, object));
    for (const object of objects) {
      if (++looked % AT_ONCE === 0) await nextTurn();
      const also = kind.alsoNeeds?.(object) ?? [];
      const seen =
        also.length === 0
          ? snapshot
          : await reader.snapshot([...kind.needs(namespace), ...also].filter(isWithin));
      problems.push(conclude(kind.type, object, kind.judge(object, seen, nowMs)));
    }
  }
  const deployments: Diagnosis[] = [];
  for (const type of deploymentTypes)
    for (const explain of deploymentsOf(type, snapshot, namespace, options)) {
      if (deployments.push(explain()) % AT_ONCE === 0) await nextTurn();
    }
  const conflicts = selectorConflicts(
    workloadsIn(snapshot, [...deploymentTypes, ...kinds.map(({ type }) => type)], namespace),
  );
  const held = options.ofEveryKind
    ? await findHeldObjects(client, {
        ...options,
        except: [...deploymentTypes, ...KIND_DIAGNOSES.map(({ type }) => type)],
      })
    : [];
  const beside = (await options.beside?.()) ?? [];
  const judged = [...deployments, ...problems].map((each) =>
    withConflict(each, conflicts.get(each.uid ?? '')),
  );
  const all = [...judged.filter(isProblem), ...held, ...beside];
  return {
    problems: [...groupByRegistry(all), ...all.toSorted(worstFirst)],
    looked: looked + deployments.length + held.length + beside.length,
    notes: reader.notes(),
    reads: reader.reads,
  };
}

function scope(namespace: string | undefined): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

/** An owner does not report that one of them is being deleted and held, but for pods. */
function isToldByOwner({ type }: KindDiagnosis, object: DeepReadonly<KubernetesObject>): boolean {
  if (!TOLD_BY_OWNER.has(type.kind) || controllerOf(object) === undefined) return false;
  return type.kind === 'Pod' || deletionFindings(object).every(({ severity }) => severity !== 'blocked');
}

/** The workloads, which select pods and create them. */
function workloadsIn(
  snapshot: Snapshot,
  types: readonly ResourceType[],
  namespace: string | undefined,
): readonly Workload[] {
  return types
    .filter(({ group, kind }) => kind === 'Deployment' || (group === 'apps' && OF_APPS.has(kind)))
    .flatMap((type) =>
      snapshot
        .list<KubernetesObject & Workload>(type, namespace)
        .map((each) => ({ ...each, kind: type.kind })),
    );
}

const OF_APPS: ReadonlySet<string> = new Set(['ReplicaSet', 'StatefulSet', 'DaemonSet']);

/** The explanation of each, made when it is called. */
function deploymentsOf(
  type: ResourceType,
  snapshot: Snapshot,
  namespace: string | undefined,
  { areChangesOld, nowMs }: Pick<FindProblemsOptions, 'areChangesOld' | 'nowMs'>,
): readonly (() => Diagnosis)[] {
  const nodesNotReady = snapshot.isKnown(Node) ? notReadyNodes(snapshot.list<Node>(Node)) : undefined;
  return snapshot.list<Deployment>(type, namespace).map((listed) => () => {
    const deployment = completed(listed);
    const { uid } = deployment.metadata;
    const replicaSets = snapshot.controlledBy<ReplicaSet>(ReplicaSet, deployment);
    const pods = replicaSets.flatMap((set) => snapshot.controlledBy<Pod>(Pod, set));
    const explained = explainDeployment({
      ...{ deployment, replicaSets, pods, nowMs },
      ...(nodesNotReady && { nodesNotReady }),
      areChangesOld,
    });
    const { cause, name, namespace: of, sentence, state, unblockedBy, waitsFor } = explained;
    return {
      ...{ kind: type.kind, apiVersion: apiVersionOf(type), namespace: of, name },
      ...(uid !== undefined && { uid }),
      ...{ state, cause, sentence, waitsFor, unblockedBy },
      notes: [],
    };
  });
}

/** Something blocks it; what passes by itself, or was asked for, is no problem. */
function isProblem({ cause, state, waitsFor }: Diagnosis): boolean {
  if (state === 'blocked' || state === 'degraded') return cause !== 'paused';
  return state === 'deleting' && waitsFor.some(({ severity }) => severity === 'blocked');
}

const RANK: Readonly<Record<string, number>> = { blocked: 0, degraded: 1, deleting: 2 };

/** The kinds of the cluster first, as they come first in the list of kinds; the sort is stable. */
function worstFirst(a: Diagnosis, b: Diagnosis): number {
  const [ofCluster, notOfCluster] = [a, b].map(({ namespace }) => (namespace === undefined ? 0 : 1));
  return (ofCluster ?? 0) - (notOfCluster ?? 0) || (RANK[a.state] ?? 9) - (RANK[b.state] ?? 9);
}

import type { ApiClient, ControllerDefinition, ReconcileContext, ResourceEvent } from '@rollkeeper/runtime';
import {
  ReplicaSet,
  defineController,
  indexBy,
  isAlreadyExists,
  isConflict,
  own,
  watch,
  unlessGone,
} from '@rollkeeper/runtime';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { ConfigMap, asSent, keyOf, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { DeploymentApi } from '../kubernetes/deployment-api.js';
import { deploymentTypeOf, typeOfDeployment } from '../kubernetes/deployment-api.js';
import { keepsExperiment, readExperimentState, readPlan } from '../experiments/index.js';
import { replicasOf } from '../kubernetes/limits.js';
import { historyKeptForMs } from '../policies/history/settings.js';
import { annotationOf } from '../policies/common/names.js';
import { trustInNames } from '../policies/common/requester.js';
import { namespaceDefaults, watchNamespaceDefaults } from '../state/namespace-defaults.js';
import { compactRecord } from './compact-record.js';
import type { RecordedView } from './decide-entries.js';
import { decideEntries } from './decide-entries.js';
import { readRecord, recordNameOf, renderRecord } from './deployment-record.js';
import type { DeploymentRecord } from './deployment-record.js';
import { lastWriterOfSize } from './means.js';
import { byTime } from './record-entry.js';

interface RecordControllerOptions {
  /** Changes within this time are one write: a rollout takes many steps. Milliseconds. @default 3000 */
  readonly gatherMs?: number;
}

const GATHER_MS = 3000;
const NAMES: Readonly<Record<DeploymentApi, string>> = {
  'apps/v1': 'rollout-history',
  'rollkeeper.dev/v1': 'rollkeeper-rollout-history',
};

interface SeenRecord {
  readonly view: RecordedView;
  readonly keptForMs: number;
  readonly nowMs: number;
  /** Absent: there is none yet. */
  readonly configMap?: DeepReadonly<ConfigMap> | undefined;
}

interface RecordPlan {
  readonly seen: SeenRecord;
  /** The ConfigMap to write. Absent: nothing. */
  readonly configMap?: ConfigMap;
}

/**
 * Keeps the history of Deployments that ask for it for a time, each in a ConfigMap that the Deployment owns. It compares states, so a
 * replica that ends in the middle loses nothing, and the API's own versions keep two replicas from writing over each other.
 */
export function createRecordController(
  api: DeploymentApi,
  { gatherMs: delayMs = GATHER_MS }: RecordControllerOptions = {},
): ControllerDefinition {
  const kind = deploymentTypeOf(api);
  return defineController<Deployment, SeenRecord, RecordPlan>(
    {
      name: NAMES[api],
      for: kind,
      workers: 2,
      perNamespace: true,
      serviceAccount: 'deployment-controller',
    },
    ({ informers }) => {
      const deployments = informers.informerFor<Deployment>(kind).lister;
      const defaultsOf = namespaceDefaults(informers);
      const keptForMs = ({ metadata }: DeepReadonly<Deployment>): number | undefined =>
        historyKeptForMs(metadata.annotations, defaultsOf(metadata.namespace ?? ''));
      const delayed = { delayMs, onlyIfNeeded: true, priority: 'low' } as const;
      return {
        urgency: (event) => (isWorthALook(event) ? delayed : undefined),
        owns: [own<ReplicaSet>(ReplicaSet, { predicates: [isWorthALook], urgency: () => delayed })],
        watches: [watchNamespaceDefaults(kind), { ...watchExperiments, urgency: delayed }],
        indexes: [indexBy<ReplicaSet>(ReplicaSet, EXPERIMENTS_OF, experimentsOf)],
        needsSync: (key) => {
          const deployment = deployments.get(key);
          return deployment !== undefined && keptForMs(deployment) !== undefined;
        },
        async observe(_request, context) {
          const kept = context.object && keptForMs(context.object);
          return kept === undefined ? undefined : observe(kept, context);
        },
        decide: (seen) => {
          const plan = decideRecord(seen);
          const what = plan.configMap
            ? `record its history in ConfigMap ${plan.configMap.metadata.name}`
            : '';
          const changes = what !== '';
          return { plan, decision: { branch: 'record', summary: what, changes, routine: true } };
        },
        act: (plan, context) => act(plan, context),
      };
    },
  );
}

/** The ReplicaSets that keep experiments outside of rollouts, by the keys of the Deployments that take part. */
const EXPERIMENTS_OF = 'experiments-of-deployment';

function experimentsOf(replicaSet: DeepReadonly<ReplicaSet>): readonly string[] {
  return deploymentsIn(replicaSet).map(keyOf);
}

function deploymentsIn(replicaSet: DeepReadonly<ReplicaSet>): readonly ObjectRef[] {
  if (!keepsExperiment(replicaSet)) return [];
  const { namespace } = replicaSet.metadata;
  const names = readPlan(replicaSet)?.templates.flatMap(({ deployment }) => deployment ?? []) ?? [];
  return [...new Set(names)].map((name) => ({ namespace, name }));
}

const watchExperiments = watch<ReplicaSet>(
  ReplicaSet,
  deploymentsIn,
  ({ object }) => keepsExperiment(object) && readExperimentState(object).ended !== undefined,
);

/** Recorded facts are in annotations and the spec; a status alone never is. */
function isWorthALook(event: ResourceEvent<KubernetesObject>): boolean {
  if (event.type === 'deleted') return false;
  if (event.type === 'added') return true;
  const [before, after] = [event.old.metadata, event.object.metadata];
  return before.generation !== after.generation || !semanticEqual(before.annotations, after.annotations);
}

async function observe(
  keptForMs: number,
  { client, clock, lister, object, owned, signal }: ReconcileContext<Deployment>,
): Promise<SeenRecord | undefined> {
  if (!object || object.metadata.deletionTimestamp !== undefined) return undefined;
  const { name, namespace } = { ...object.metadata, name: recordNameOf(object.metadata.uid ?? '') };
  const configMap = await unlessGone(client.get<ConfigMap>(ConfigMap, { namespace, name }, { signal }));
  const { replicas } = readRecord(configMap).state;
  const isScaled = replicas !== undefined && replicas !== replicasOf(object.spec);
  const nowMs = clock.now();
  return {
    ...{ keptForMs, nowMs, configMap },
    view: {
      deployment: object,
      replicaSets: owned(ReplicaSet),
      experiments: lister<ReplicaSet>(ReplicaSet).byIndex(EXPERIMENTS_OF, keyOf(object.metadata)),
      now: toRfc3339(nowMs),
      names: await trustInNames(client, signal),
      ...(isScaled && { sizeWriter: await sizeWriterOf(object, client, signal) }),
    },
  };
}

/** From the API, because the caches keep no managedFields. */
async function sizeWriterOf(
  deployment: DeepReadonly<Deployment>,
  client: Pick<ApiClient, 'get'>,
  signal: AbortSignal,
): Promise<RecordedView['sizeWriter']> {
  const { metadata } = deployment;
  const fresh = await unlessGone(client.get<Deployment>(typeOfDeployment(deployment), metadata, { signal }));
  const isSame = fresh?.metadata.generation === metadata.generation;
  return isSame ? lastWriterOfSize(fresh?.metadata.managedFields) : undefined;
}

/** The record with what is new, made as small as it must be. Pure. */
function decideRecord(seen: SeenRecord): RecordPlan {
  const { configMap, keptForMs, nowMs, view } = seen;
  const before = readRecord(configMap);
  const { entries, state } = decideEntries(before.state, view);
  const isNew = configMap === undefined || !semanticEqual(state, before.state) || entries.length > 0;
  if (!isNew) return { seen };
  const added = [...before.recent, ...entries].toSorted(byTime);
  const record = compactRecord({ ...before, recent: added, state }, { keptForMs, nowMs });
  return { seen, configMap: configMapOf(seen, record) };
}

function configMapOf({ configMap, view }: SeenRecord, record: DeploymentRecord): ConfigMap {
  const { apiVersion, kind, metadata } = view.deployment;
  const { name, namespace, uid = '' } = metadata;
  const data = renderRecord(record);
  if (configMap) return asSent<ConfigMap>({ ...configMap, data });
  return {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: {
      name: recordNameOf(uid),
      ...(namespace !== undefined && { namespace }),
      labels: { 'app.kubernetes.io/managed-by': 'rollkeeper' },
      annotations: { [annotationOf('history')]: `${kind} ${name}` },
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    data,
  };
}

async function act(
  { configMap, seen }: RecordPlan,
  context: ReconcileContext<Deployment>,
): Promise<{ readonly seen?: SeenRecord | undefined }> {
  if (!configMap) return {};
  const { client, signal } = context;
  try {
    if (seen.configMap) await client.update(ConfigMap, configMap, { signal });
    else await client.create(ConfigMap, configMap, { signal });
    return {};
  } catch (error) {
    if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    // Another replica was faster: what it has recorded is read, and the rest is decided again.
    return { seen: await observe(seen.keptForMs, context) };
  }
}

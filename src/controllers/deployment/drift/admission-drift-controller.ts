import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import {
  findCondition,
  isControlledBy,
  isPodTerminating,
  selectorText,
} from '@rollkeeper/machinery/kubernetes';
import type {
  ControllerDefinition,
  Informer,
  ReconcileContext,
  ReconcileResult,
  ResourceEvent,
} from '@rollkeeper/runtime';
import {
  MutatingWebhookConfiguration,
  Pod,
  ReplicaSet,
  apiStatusOf,
  defineController,
  own,
  watch,
} from '@rollkeeper/runtime';
import { POD_TEMPLATE_HASH, podOfReplicaSet } from '../../shared/index.js';
import type { DeploymentApi } from '../kubernetes/deployment-api.js';
import { deploymentTypeOf, typeOfDeployment } from '../kubernetes/deployment-api.js';
import type { DriftRecord } from '../policies/admission-restart/drift-record.js';
import {
  ADMISSION_DRIFT,
  driftSentence,
  readDrift,
  renderDrift,
} from '../policies/admission-restart/drift-record.js';
import { isRolledOut } from '../policies/common/tell.js';
import { latestReplicaSet } from '../state/latest-replica-set.js';
import { decideDrift } from './decide-drift.js';

const NAMES: Readonly<Record<DeploymentApi, string>> = {
  'apps/v1': 'admission-drift',
  'rollkeeper.dev/v1': 'rollkeeper-admission-drift',
};
/** A mesh may inject something else without a change of its webhook: each Deployment is looked at again after this time. */
const AGAIN_MS = 3_600_000;
/** A rollout that has ended, and configurations that are written one after another, are looked at together. */
const GATHER_MS = 5000;

export interface AdmissionDriftOptions {
  /** Time to wait for more changes, milliseconds. @default 5000 */
  readonly gatherMs?: number;
}

/**
 * Compares the running pods of Deployments with what admission gives new ones, by creations that are not carried out. Where
 * no mutating webhook is called for pods it does nothing. The result is an annotation on the Deployment.
 */
export function createAdmissionDriftController(
  api: DeploymentApi,
  { gatherMs: delayMs = GATHER_MS }: AdmissionDriftOptions = {},
): ControllerDefinition {
  const kind = deploymentTypeOf(api);
  return defineController<Deployment>(
    // One worker: a change of a webhook makes a few requests at a time, however many Deployments there are.
    {
      ...{ name: NAMES[api], for: kind, workers: 1, queue: 'local', perNamespace: true },
      serviceAccount: 'deployment-controller',
    },
    ({ informers }) => {
      const hooks = informers.informerFor<MutatingWebhookConfiguration>(MutatingWebhookConfiguration, {
        optional: true,
      });
      const later = { delayMs, priority: 'low', reason: 'resync' } as const;
      const isAsked = (): boolean => changesPods(hooks);
      return {
        urgency: (event) => (isWorthALook(event, isAsked()) ? later : undefined),
        owns: [own<ReplicaSet>(ReplicaSet, { urgency: () => undefined })],
        watches: [
          {
            ...watch<MutatingWebhookConfiguration>(
              MutatingWebhookConfiguration,
              (_configuration, listerOf) =>
                listerOf(kind)
                  .list()
                  .map(({ metadata }) => metadata),
              (event) => isForPods(event.object) || (event.type === 'modified' && isForPods(event.old)),
            ),
            ...{ optional: true, mustBeSeen: false, urgency: later },
          },
        ],
        reconcile: (_request, context) => reconcile(context, isAsked()),
      };
    },
  );
}

async function reconcile(context: ReconcileContext<Deployment>, isAsked: boolean): Promise<ReconcileResult> {
  const { object: deployment, owned } = context;
  if (!deployment || deployment.metadata.deletionTimestamp !== undefined) return {};
  if (!isAsked) {
    await write(deployment, undefined, context);
    return {};
  }
  const latest = latestReplicaSet(deployment, owned(ReplicaSet));
  if (!latest || !isThrough(deployment)) return {};
  try {
    await write(deployment, await compare(latest, context), context);
  } catch (error) {
    // A webhook that may not be called on a trial, a quota that is used up: what new pods would get is not known.
    const { code = 500 } = apiStatusOf(error) ?? {};
    if (code < 400 || code > 499 || code === 401 || code === 409 || code === 429) throw error;
    context.events.record(deployment, {
      type: 'Warning',
      reason: 'AdmissionUnknown',
      message: `What admission gives new pods is not known: ${errorMessage(error)}`,
    });
  }
  return { requeueAfterMs: AGAIN_MS };
}

async function compare(
  latest: DeepReadonly<ReplicaSet>,
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
): Promise<DriftRecord | undefined> {
  const { labels, name, namespace } = latest.metadata;
  const labelSelector = selectorText(latest.spec.selector);
  const { items } = await client.list<Pod>(Pod, { namespace, labelSelector, signal });
  const running = items.filter(
    (pod) => isControlledBy(pod, latest) && pod.status?.phase === 'Running' && !isPodTerminating(pod),
  );
  if (running.length === 0) return undefined;
  const owner = { ...latest, apiVersion: 'apps/v1', kind: 'ReplicaSet' };
  const ask = (suffix: string): Promise<Pod> =>
    client.create<Pod>(Pod, podOfReplicaSet(owner, `${name}-${suffix}`), { dryRun: true, signal });
  const asked = [await ask('admission-a'), await ask('admission-b')] as const;
  const drift = decideDrift(running, asked);
  return drift && { ...drift, template: labels?.[POD_TEMPLATE_HASH] ?? '' };
}

/** Writes the record if it changed, and says so on the Deployment. */
async function write(
  deployment: DeepReadonly<Deployment>,
  record: DriftRecord | undefined,
  { client, events, signal }: Pick<ReconcileContext, 'client' | 'events' | 'signal'>,
): Promise<void> {
  const { annotations, name, namespace, uid } = deployment.metadata;
  const text = record && renderDrift(record);
  if (annotations?.[ADMISSION_DRIFT] === text) return;
  const body = { metadata: { uid, annotations: { [ADMISSION_DRIFT]: text ?? null } } };
  await client.patch<Deployment>(
    typeOfDeployment(deployment),
    { namespace, name },
    { type: 'merge', body },
    { signal },
  );
  if (record && readDrift(annotations)?.digest !== record.digest)
    events.record(deployment, { type: 'Normal', reason: 'AdmissionDrift', message: driftSentence(record) });
}

/** A Deployment that is rolled out, or that has a record which may be wrong by now. */
function isWorthALook(event: ResourceEvent<Deployment>, isAsked: boolean): boolean {
  if (event.type === 'deleted') return false;
  const { annotations } = event.object.metadata;
  if (!isAsked) return annotations?.[ADMISSION_DRIFT] !== undefined;
  if (!isThrough(event.object)) return false;
  return (
    event.type === 'added' ||
    !isThrough(event.old) ||
    event.old.metadata.generation !== event.object.metadata.generation
  );
}

function isThrough({ metadata, status }: DeepReadonly<Deployment>): boolean {
  return (
    isRolledOut(findCondition(status?.conditions, 'Progressing')?.reason) &&
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

function changesPods({ lister }: Pick<Informer<MutatingWebhookConfiguration>, 'lister'>): boolean {
  return lister.list().some(isForPods);
}

/** Whether one of its webhooks is called for new pods of some namespace. */
function isForPods({ webhooks = [] }: DeepReadonly<MutatingWebhookConfiguration>): boolean {
  const has = (list: readonly string[] | undefined, ...any: readonly string[]): boolean =>
    (list ?? []).some((each) => any.includes(each));
  return webhooks.some(({ rules = [] }) =>
    rules.some(
      ({ apiGroups, operations, resources }) =>
        has(apiGroups, '', '*') && has(operations, 'CREATE', '*') && has(resources, 'pods', '*', '*/*'),
    ),
  );
}

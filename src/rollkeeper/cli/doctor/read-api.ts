import type { HttpApiClient, Readiness } from '@rollkeeper/client/api-client';
import { apiStatusOf, isForbidden, isNotFound, unlessGone } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { LinkedAbort, abortable } from '@rollkeeper/machinery/cancellation';
import { TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Deployment,
  Lease,
  Namespace,
  Pod,
  ReplicaSet,
  Service,
  keyOf,
  EndpointSlice as EndpointSliceKind,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  untyped,
} from '@rollkeeper/machinery/kubernetes';
import { StatefulSet } from '@rollkeeper/runtime';
import { authorityEndMs } from '../../insight/authority-end.js';
import { FIRST_ANSWER_MS } from '../../terminal/first-answer.js';
import type { ApiFacts } from './decide-api.js';
import type { RivalFacts, StatusWriter } from './decide-rivals.js';
import type { AdmissionFacts, TriedWrite, WebhookFacts } from './decide-webhooks.js';
import { concernsUs } from './decide-webhooks.js';
import type { Asked } from './finding.js';
import { answered, notAsked } from './finding.js';
import { trialObjects } from './trial-objects.js';
import type { EndpointSlice, Webhook, WebhookConfiguration } from './resources.js';

interface ApiReader {
  readonly client: HttpApiClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Limit of each question, milliseconds. @default the client's own */
  readonly withinMs?: number;
}

/** The caller, and how long an answer may take. */
export interface Asker extends Pick<ApiReader, 'clock' | 'signal'> {
  /** Milliseconds. @default as long as the answer takes */
  readonly withinMs?: number;
}

/** An answer, or why there is none. Only a stop is passed on. */
export async function asking<T>(
  { clock, signal, withinMs }: Asker,
  question: (signal: AbortSignal) => Promise<T>,
): Promise<Asked<T>> {
  const limit = new LinkedAbort(signal);
  const timer =
    withinMs === undefined
      ? undefined
      : clock.setTimeout(
          () => limit.abort(new TimeoutError(`nothing came for ${withinMs / 1000} s`)),
          withinMs,
        );
  try {
    return answered(await abortable(question(limit.signal), limit.signal));
  } catch (error) {
    signal.throwIfAborted();
    return { is: 'unanswered', why: errorMessage(error) };
  } finally {
    timer?.cancel();
    limit.close();
  }
}

/** The share of the limit: a server whose readiness hangs still has a version. */
const OF_READINESS = 0.7;

export function readApi(
  { client, clock, signal, withinMs = FIRST_ANSWER_MS }: ApiReader,
  url: string,
): Promise<Asked<ApiFacts>> {
  const asker = { clock, signal };
  return asking({ ...asker, withinMs }, async (limited) => {
    const [beganMs, beganAtMs] = [clock.monotonicNow(), clock.now()];
    const readiness = asking({ ...asker, withinMs: Math.round(withinMs * OF_READINESS) }, (briefly) =>
      client.readiness({ signal: briefly }),
    );
    const { dateMs, version } = await client.serverInfo({ signal: limited });
    const tookMs = clock.monotonicNow() - beganMs;
    // The date is cut to whole seconds, so half a second more is nearest to the truth.
    const aheadMs = dateMs === undefined ? undefined : dateMs + 500 - (beganAtMs + tookMs / 2);
    const notReady = notReadyOf(await readiness);
    return {
      ...{ url, version, tookMs },
      ...(aheadMs !== undefined && { aheadMs }),
      ...(notReady !== undefined && { notReady }),
    };
  });
}

function notReadyOf(asked: Asked<Readiness>): string | undefined {
  if (asked.is !== 'answered') return `/readyz does not answer: ${asked.why}`;
  const { failing, status } = asked.value;
  if (status < 500) return undefined;
  return failing.length > 0 ? `these checks fail: ${failing.join(', ')}` : `/readyz answers ${status}`;
}

const PAGE = 200;

/** The Deployments' managedFields, the Lease and the flags of kube-controller-manager. */
export async function readRivals(
  reader: ApiReader,
  {
    namespaces,
    sinceMs,
    worksOnApps,
  }: { namespaces: readonly string[]; sinceMs: number; worksOnApps: boolean },
): Promise<RivalFacts> {
  const { client } = reader;
  const [writers, managerLease, managerFlags] = await Promise.all([
    asking(reader, (signal) => readWriters(client, namespaces, signal)),
    asking(reader, (signal) => readManagerLease(client, signal)),
    asking(reader, (signal) => readManagerFlags(client, signal)),
  ]);
  return { worksOnApps, sinceMs, writers, managerLease, managerFlags };
}

/** The StatefulSets, with their managedFields; the first page of each namespace. */
export function readSets(
  reader: ApiReader,
  namespaces: readonly string[],
): Promise<Asked<readonly StatefulSet[]>> {
  const { client } = reader;
  const wanted = namespaces.length === 0 ? [undefined] : namespaces;
  return asking(reader, async (signal) => {
    const pages = await Promise.all(
      wanted.map((namespace) => client.list<StatefulSet>(StatefulSet, { namespace, limit: PAGE, signal })),
    );
    return pages.flatMap(({ items }) => items);
  });
}

async function readWriters(
  client: HttpApiClient,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<readonly StatusWriter[]> {
  const wanted = namespaces.length === 0 ? [undefined] : namespaces;
  const pages = await Promise.all(
    wanted.map((namespace) =>
      client.list<Deployment>(Deployment, { namespace, limit: PAGE, metadataOnly: true, signal }),
    ),
  );
  return pages.flatMap(({ items }) => items).flatMap(statusWritersOf);
}

interface ManagedFields {
  readonly manager?: string;
  readonly subresource?: string;
  readonly time?: string;
}

export function statusWritersOf({ metadata }: Pick<Deployment, 'metadata'>): readonly StatusWriter[] {
  return ((metadata.managedFields ?? []) as readonly ManagedFields[])
    .filter(({ subresource }) => subresource === 'status')
    .map(({ manager = '', time }) => ({ key: keyOf(metadata), manager, atMs: Date.parse(time ?? '') }))
    .filter(({ atMs }) => Number.isFinite(atMs));
}

const MANAGER = { namespace: 'kube-system', name: 'kube-controller-manager' };

async function readManagerLease(client: HttpApiClient, signal: AbortSignal) {
  const lease = await unlessGone(client.get<Lease>(Lease, MANAGER, { signal }));
  if (!lease) return undefined;
  const { holderIdentity = '', renewTime } = lease.spec ?? {};
  return { holder: holderIdentity, renewedAtMs: Date.parse(renewTime ?? '') || 0 };
}

async function readManagerFlags(
  client: HttpApiClient,
  signal: AbortSignal,
): Promise<readonly (string | undefined)[]> {
  const labelSelector = 'component=kube-controller-manager';
  const { items } = await client.list<Pod>(Pod, { namespace: MANAGER.namespace, labelSelector, signal });
  return items.map(({ spec }) => controllersFlagIn(spec.containers.flatMap(commandOf)));
}

function commandOf({ args = [], command = [] }: { args?: readonly string[]; command?: readonly string[] }) {
  return [...command, ...args];
}

export function controllersFlagIn(words: readonly string[]): string | undefined {
  const index = words.findIndex((word) => /^--?controllers(=|$)/.test(word));
  if (index < 0) return undefined;
  const [, value] = (words[index] ?? '').split(/=(.*)/s);
  return value ?? words[index + 1];
}

interface AdmissionQuestion {
  /** The namespace in which a write is tried; undefined: none. */
  readonly tryIn?: string;
}

export async function readAdmission(
  reader: ApiReader,
  { tryIn }: AdmissionQuestion,
): Promise<AdmissionFacts> {
  const [webhooks, tried] = await Promise.all([
    asking(reader, (signal) => readWebhooks({ ...reader, signal })),
    tryIn === undefined
      ? notAsked('--no-dry-run was given')
      : asking(reader, (signal) => tryWrites({ ...reader, signal }, tryIn)),
  ]);
  return { webhooks, tried };
}

async function readWebhooks({ client, signal }: ApiReader): Promise<readonly WebhookFacts[]> {
  const lists = await Promise.all(
    [untyped(ValidatingWebhookConfiguration), untyped(MutatingWebhookConfiguration)].map((type) =>
      client.list<WebhookConfiguration>(type, { signal }),
    ),
  );
  const all = lists
    .flatMap(({ items }) => items)
    .flatMap(({ metadata, webhooks = [] }) =>
      webhooks.filter(concernsUs).map((webhook) => ({ configuration: metadata.name, webhook })),
    );
  return Promise.all(
    all.map(async ({ configuration, webhook }) => ({
      configuration,
      webhook,
      service: await readService(client, webhook, signal),
      authorityEndsAtMs: authorityEndMs(webhook.clientConfig?.caBundle),
    })),
  );
}

async function readService(
  client: HttpApiClient,
  { clientConfig }: Webhook,
  signal: AbortSignal,
): Promise<WebhookFacts['service']> {
  const service = clientConfig?.service;
  if (!service) return undefined;
  const { name, namespace } = service;
  try {
    const found = await unlessGone(client.get(Service, { namespace, name }, { signal }));
    if (!found) return { exists: false, ready: 0 };
    const labelSelector = `kubernetes.io/service-name=${name}`;
    const slices = await client.list<EndpointSlice>(untyped(EndpointSliceKind), {
      namespace,
      labelSelector,
      signal,
    });
    const ready = slices.items
      .flatMap(({ endpoints = [] }) => endpoints)
      .filter(({ conditions }) => conditions?.ready !== false);
    const itsNamespace = await unlessUnreadable(
      client.get<Namespace>(Namespace, { name: namespace }, { signal }),
    );
    return { exists: true, ready: ready.length, namespaceLabels: itsNamespace?.metadata.labels ?? undefined };
  } catch (error) {
    // A user who may list webhooks need not be allowed to look behind them.
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

async function unlessUnreadable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** Asks for what a rollout writes, with `dryRun=All`: the API admits it, calls its webhooks, and stores nothing. */
async function tryWrites(
  { client, clock, signal }: ApiReader,
  namespace: string,
): Promise<readonly TriedWrite[]> {
  const { deployment, pod, replicaSet } = trialObjects(namespace);
  const attempt = async (type: ResourceType, object: KubernetesObject): Promise<TriedWrite> => {
    const beganMs = clock.monotonicNow();
    const refusal = await refusalOf(client.create(type, object, { dryRun: true, signal }));
    return { kind: type.kind, namespace, tookMs: clock.monotonicNow() - beganMs, refusal };
  };
  return [
    await attempt(Deployment, deployment),
    await attempt(ReplicaSet, replicaSet),
    await attempt(Pod, pod),
  ];
}

async function refusalOf(writing: Promise<unknown>): Promise<TriedWrite['refusal']> {
  try {
    await writing;
    return undefined;
  } catch (error) {
    const status = apiStatusOf(error);
    if (!status) throw error;
    return { code: status.code, message: errorMessage(error) };
  }
}

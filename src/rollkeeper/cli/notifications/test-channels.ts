import type { ApiClient } from '@rollkeeper/client/api-client';
import { isForbidden, isNotFound } from '@rollkeeper/client/api-client';
import type { HostRule, HttpSender } from '@rollkeeper/controllers/deployment';
import { NAMESPACE_POLICIES, annotationOf, channelsOf } from '@rollkeeper/controllers/deployment';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { uuidOf } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Deployment, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, Secret, apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { MailSender, Notification } from '../../insight/notifications/index.js';
import { ChannelError, readChannel, sendNotification } from '../../insight/notifications/index.js';
import { renderTable } from '../../terminal/index.js';

/** One channel of a namespace, and what became of the test message. It has no value of the Secret. */
export interface TestedChannel {
  /** The name of the Secret. */
  readonly channel: string;
  /** `namespace`, and the Deployments that name it. */
  readonly usedBy: readonly string[];
  readonly result: 'sent' | 'failed';
  /** The kind of service, if the Secret could be read. */
  readonly service?: string;
  /** The status of the answer over HTTP. */
  readonly status?: number;
  /** Why it was not sent. */
  readonly error?: string;
}

export interface TestParts {
  readonly client: Pick<ApiClient, 'get'>;
  readonly sender: HttpSender;
  readonly mail: MailSender;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly signal: AbortSignal;
  /** The hosts that the operator allows. Undefined: they are not known, and the Secret's own annotation counts alone. */
  readonly hosts: readonly HostRule[] | undefined;
}

/** The channels that a Namespace and its Deployments name, each with those that name it. */
export function channelsIn(
  namespace: KubernetesObject | undefined,
  deployments: readonly Deployment[],
): ReadonlyMap<string, readonly string[]> {
  const defaults = namespace?.metadata.annotations;
  const named = [
    ...channelsOf(undefined, defaults).map((channel) => [channel, 'namespace'] as const),
    ...deployments.flatMap(({ metadata: { annotations, name } }) =>
      annotations?.[annotationOf('notify')] === undefined
        ? []
        : channelsOf(annotations, undefined).map((channel) => [channel, `deployment/${name}`] as const),
    ),
  ];
  const all = new Map<string, readonly string[]>();
  for (const [channel, by] of named) all.set(channel, [...(all.get(channel) ?? []), by]);
  return all;
}

/** Sends one message to each channel, all at once, with the rights of the user. */
export async function testChannels(
  namespace: string,
  channels: ReadonlyMap<string, readonly string[]>,
  parts: TestParts,
): Promise<readonly TestedChannel[]> {
  return Promise.all(
    [...channels].map(async ([channel, usedBy]) => ({
      ...{ channel, usedBy },
      ...(await testChannel({ namespace, name: channel }, parts)),
    })),
  );
}

async function testChannel(
  ref: { readonly namespace: string; readonly name: string },
  { client, clock, hosts, mail, random, sender, signal }: TestParts,
): Promise<Pick<TestedChannel, 'result' | 'service' | 'status' | 'error'>> {
  let service: string | undefined;
  try {
    const channel = readChannel(await client.get<Secret>(Secret, ref, { signal }), hosts);
    ({ service } = channel);
    const message = testMessage(ref, clock.now(), uuidOf(random));
    const status = await sendNotification(message, channel, {
      sender,
      mail,
      signal,
      nowMs: () => clock.now(),
    });
    return { result: 'sent', service, ...(status !== undefined && { status }) };
  } catch (error) {
    signal.throwIfAborted();
    return { result: 'failed', ...(service !== undefined && { service }), error: whyOf(error, ref.name) };
  }
}

/** Errors of channels and of the API have no value of a Secret in them. Others are not shown. */
function whyOf(error: unknown, name: string): string {
  if (error instanceof ChannelError) return errorMessage(error);
  if (isNotFound(error)) return `there is no Secret ${name}`;
  if (isForbidden(error)) return `Secret ${name} may not be read`;
  return `Secret ${name} could not be read, or the message could not be made`;
}

/** An event that opens no alert: PagerDuty resolves one that does not exist. */
function testMessage(
  { name: channel, namespace }: { readonly namespace: string; readonly name: string },
  atMs: number,
  id: string,
): Notification {
  const of = { apiVersion: apiVersionOf(ReplicaSet), kind: ReplicaSet.kind };
  const metadata = { name: 'test', namespace };
  return {
    ...{ event: 'complete', key: 'test', id, uid: `test-${id}`, namespace, name: 'test', atMs },
    about: { ...of, metadata },
    replicaSet: { ...of, metadata, spec: { selector: {} } },
    ...{ revision: 'test', images: [] },
    title: `Test of channel ${channel} in namespace ${namespace}`,
    text: 'This is a test message of rollkeeper notifications test. No rollout has happened.',
  };
}

const NONE = '<none>';

/** A line for each channel. */
export function renderTested(tested: readonly TestedChannel[]): string {
  return renderTable([
    ['CHANNEL', 'SERVICE', 'RESULT', 'STATUS', 'USED-BY', 'ERROR'],
    ...tested.map(({ channel, error, result, service, status, usedBy }) => [
      ...[channel, service ?? NONE, result, status === undefined ? NONE : String(status)],
      ...[usedBy.join(', '), error ?? NONE],
    ]),
  ]);
}

/** The Namespace with its defaults; undefined if the user may not read it. */
export async function readNamespace(
  client: Pick<ApiClient, 'get'>,
  name: string,
): Promise<KubernetesObject | undefined> {
  try {
    return await client.get<KubernetesObject>(NAMESPACE_POLICIES, { name });
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

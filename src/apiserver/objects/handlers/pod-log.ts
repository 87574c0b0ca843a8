import {
  containerAnnotation,
  goQuote,
  isPodFinished,
  objectOfKind,
  ownField,
} from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { StorageEvent } from '../../storage/index.js';
import { badRequest, invalid, kubeletUnreachable, notFound } from '../../schema/errors/index.js';
import { forbiddenField, invalidField } from '../../kinds/index.js';
import type { FieldError } from '../../kinds/index.js';
import type { ApiResponse } from '../../http/index.js';
import { storageKeyOf, translateStorageError } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { admittedOptions, connectOptionsOf } from './connect-options.js';
import { admitConnection } from './connection.js';
import type { ResourceCall } from './handler.js';
import { decideExec, execOverWebSocket } from './pod-exec.js';

/** On a pod: what each of its containers has written. With a dot and a container's name behind it, what that one has. */
const LOG_ANNOTATION = 'node.rollkeeper.dev/logs';

const CONTENT_TYPE = 'text/plain';
const KUBELET_PORT = 10250;

/** The part of a container's log that a client wants. */
interface LogOptions {
  readonly container?: string;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines?: number;
  readonly limitBytes?: number;
}

/** `GET` of a pod's `log`: what its annotation says that the container has written. Nothing is run that could write. */
export async function handlePodLog(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const options = logOptionsOf(call.request.query, call.name);
  const { pod, revision } = await readPod(context, call);
  const container = decideContainer(pod, options.container);
  // Source: LogLocation in pkg/registry/core/pod/strategy.go: without a node there is nothing to ask.
  if (!pod.spec.nodeName) return text('', 204);
  const log = decideLog(pod, container, options);
  if (!call.request.flag('follow')) return text(log);
  const stream = follow(context, call, { container, revision, pod, log });
  return { status: 200, stream, contentType: CONTENT_TYPE };
}

function text(raw: string, status = 200): ApiResponse {
  return { status, raw, contentType: CONTENT_TYPE };
}

async function readPod(
  context: RegistryContext,
  call: ResourceCall,
): Promise<{ readonly pod: Pod; readonly revision: number }> {
  const stored = await context.storage.get(storageKeyOf(call)).catch((error: unknown) => {
    throw translateStorageError(error, call);
  });
  if (!stored) throw notFound(call.kind.type, call.name);
  return { pod: objectOfKind(stored.object), revision: stored.revision };
}

/** @throws StatusError 400 for what cannot be read, 422 for what makes no sense. Source: ValidatePodLogOptions. */
export function logOptionsOf(query: URLSearchParams, pod: string): LogOptions {
  const flag = (name: string): boolean => query.get(name) === 'true' || query.get(name) === '1';
  const tailLines = readCount(query, 'tailLines');
  const limitBytes = readCount(query, 'limitBytes');
  const errors = logOptionErrors(
    { tailLines, limitBytes, sinceSeconds: readCount(query, 'sinceSeconds') },
    query,
  );
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, pod, errors);
  return {
    container: query.get('container') ?? undefined,
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    tailLines,
    limitBytes,
  };
}

function logOptionErrors(
  counts: Readonly<Record<string, number | undefined>>,
  query: URLSearchParams,
): FieldError[] {
  const errors: FieldError[] = [];
  const { limitBytes = 1, sinceSeconds, tailLines = 0 } = counts;
  if (tailLines < 0) errors.push(invalidField('tailLines', tailLines, 'must be greater than or equal to 0'));
  if (limitBytes < 1) errors.push(invalidField('limitBytes', limitBytes, 'must be greater than 0'));
  if (sinceSeconds !== undefined && query.get('sinceTime'))
    errors.push(forbiddenField('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.push(invalidField('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  if (query.get('stream')) errors.push(forbiddenField('stream', 'may not be specified'));
  return errors;
}

function readCount(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^[+-]?\d{1,15}$/.test(value))
    throw badRequest(`strconv.ParseInt: parsing ${goQuote(value)}: invalid syntax`);
  return Number(value);
}

/**
 * The container whose log it is. Source: validateContainer in pkg/registry/core/pod/strategy.go.
 * @throws StatusError 400 where no container is meant, or none of the pod's
 */
export function decideContainer({ metadata, spec }: DeepReadonly<Pod>, asked: string | undefined): string {
  const names = spec.containers.map(({ name }) => name);
  const initial = (spec.initContainers ?? []).map(({ name }) => name);
  const ephemeral = (spec.ephemeralContainers ?? []).map(({ name }) => name);
  if (asked) {
    if ([...names, ...initial, ...ephemeral].includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${metadata.name}`);
  }
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) return only;
  const orInitial = initial.length > 0 ? ` or one of the init containers: [${initial.join(' ')}]` : '';
  throw badRequest(
    `a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]${orInitial}`,
  );
}

const WAITING_FOR_IMAGE: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

/**
 * The answer of the kubelet of the pod's node. Source of refusals: validateContainerLogStatus in pkg/kubelet.
 * @throws StatusError 400 where the container has not run, 500 where the pod does not say what it has written
 */
export function decideLog(pod: DeepReadonly<Pod>, container: string, options: LogOptions): string {
  const startedAt = startOf(pod, container, options.previous);
  const written = containerAnnotation(pod.metadata, LOG_ANNOTATION, container);
  if (written === undefined) throw kubeletUnreachable(logAddress(pod, container));
  const lines = written.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const { tailLines, limitBytes } = options;
  const wanted = tailLines === undefined ? lines : lines.slice(Math.max(0, lines.length - tailLines));
  const log = wanted.map((line) => `${options.timestamps ? `${startedAt} ` : ''}${line}\n`).join('');
  return limitBytes === undefined ? log : Buffer.from(log).subarray(0, limitBytes).toString();
}

/** When the container began whose log it is. */
function startOf({ metadata, status }: DeepReadonly<Pod>, container: string, previous: boolean): string {
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
  const found = statuses.find(({ name }) => name === container);
  const of = `container "${container}" in pod "${metadata.name}"`;
  if (!found) throw badRequest(`${of} is not available`);
  const { state, lastState } = found;
  if (previous) {
    if (lastState?.terminated) return lastState.terminated.startedAt ?? '';
    throw badRequest(`previous terminated ${of} not found`);
  }
  const ran = state?.running ?? state?.terminated ?? lastState?.terminated;
  if (ran) return ran.startedAt ?? '';
  const reason = state?.waiting?.reason;
  if (!reason) throw badRequest(`${of} is waiting to start - no logs yet`);
  throw badRequest(`${of} is waiting to start: ${ownField(WAITING_FOR_IMAGE, reason) ?? reason}`);
}

function logAddress({ metadata, status }: DeepReadonly<Pod>, container: string) {
  const host = `${status?.hostIP ?? 'localhost'}:${KUBELET_PORT}`;
  return { host, url: `https://${host}/containerLogs/${metadata.namespace}/${metadata.name}/${container}` };
}

interface Followed {
  readonly container: string;
  readonly pod: DeepReadonly<Pod>;
  readonly revision: number;
  readonly log: string;
}

/** The log, then what the annotation grows by, until the container ends or the client goes. */
async function* follow(
  context: RegistryContext,
  call: ResourceCall,
  { container, pod, revision, log }: Followed,
): AsyncGenerator<string> {
  const { namespace, request } = call;
  if (log !== '') yield log;
  if (hasEnded(pod, container)) return;
  let before = pod;
  const { resource } = storageKeyOf(call);
  const reserve = (length: number) => request.reserve(length);
  const { signal } = request;
  for await (const events of context.storage.watch(
    { resource, namespace, after: revision, reserve },
    signal,
  )) {
    for (const event of events) {
      const after = podOf(event, call.name);
      if (!after) continue;
      if (event.type === 'deleted' || after.metadata.uid !== pod.metadata.uid) return;
      const more = addedText(before, after, container);
      if (more !== '') yield more;
      if (hasEnded(after, container)) return;
      before = after;
    }
  }
}

function podOf(event: StorageEvent, name: string): Pod | undefined {
  if (event.type === 'progress' || event.key.name !== name) return undefined;
  return objectOfKind(event.object);
}

export function addedText(before: DeepReadonly<Pod>, after: DeepReadonly<Pod>, container: string): string {
  const [old = '', now = ''] = [before, after].map(({ metadata }) =>
    containerAnnotation(metadata, LOG_ANNOTATION, container),
  );
  if (now === old) return '';
  return now.startsWith(old) ? now.slice(old.length) : now;
}

function hasEnded(pod: DeepReadonly<Pod>, container: string): boolean {
  if (isPodFinished(pod)) return true;
  const { status } = pod;
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ];
  return statuses.some(({ name, state }) => name === container && state?.terminated !== undefined);
}

/**
 * `exec`, `attach` and `portforward`: there is no process and no kubelet. An annotation of the pod may define a
 * command's answer.
 */
export async function handlePodStream(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const asked = connectOptionsOf(call.request.query, call.subresource);
  const options = admittedOptions(await admitConnection(context, call, asked));
  const { pod } = await readPod(context, call);
  if (call.subresource !== 'portforward') {
    const container = decideContainer(pod, options.container);
    const isExec = call.subresource === 'exec' && pod.spec.nodeName;
    const outcome = isExec ? decideExec(pod, container, options.command) : undefined;
    if (outcome) return execOverWebSocket(call.request, options, outcome, context.clock);
  }
  if (!pod.spec.nodeName) throw badRequest(`pod ${call.name} does not have a host assigned`);
  throw kubeletUnreachable({ host: `${pod.status?.hostIP ?? 'localhost'}:${KUBELET_PORT}` });
}

import type { Attributes, Span } from '@opentelemetry/api';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ApiRequest, ApiResponse } from '../http/index.js';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import { StatusError } from '../schema/errors/index.js';
import { isCovered, readTraceHeaders } from '@rollkeeper/machinery/trace-context';

const SERVER = { kind: SpanKind.SERVER };
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
/**
 * Frequent writes that are unrelated to any requested change, so they begin no trace of their own. A node's report about a pod
 * leaves the pod's annotated trace unchanged, as a kubelet does: observers continue the pod's creation.
 */
const QUIET = new Set(['events', 'leases', 'nodes', 'pods/binding', 'pods/status']);

/**
 * Runs a writing request in a span that continues the trace its client named, or begins one: a `kubectl` call is where most
 * traces begin. A client that says that its own span covers the request is believed: the server adds no span, and what the
 * request writes continues from the client's. Reads are too many for spans.
 */
export function inRequestSpan(request: ApiRequest, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
  if (READS.has(request.method)) return work();
  const parent = readTraceHeaders(request.headers);
  if (isCovered(parent)) return context.with(parent, work);
  const resource = resourceOf(request);
  if (isQuiet(resource) && request.headers['traceparent'] === undefined) return work();
  const name = resource.resource ? `${request.method} ${resource.resource}` : request.method;
  return trace.getTracer('rollkeeper-api-server').startActiveSpan(name, SERVER, parent, (span) => {
    if (span.isRecording()) span.setAttributes(attributesOf(request, resource));
    return traced(span, work);
  });
}

function isQuiet({ resource }: RequestedResource): boolean {
  return QUIET.has(resource) || QUIET.has(resource.split('/', 1)[0] ?? '');
}

async function traced(span: Span, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
  try {
    const answer = await work();
    span.setAttribute('http.response.status_code', answer.status);
    return answer;
  } catch (error) {
    const code = error instanceof StatusError ? error.status.code : 500;
    span.setAttribute('http.response.status_code', code);
    if (code === 409) span.setAttribute('rollkeeper.conflict', true);
    span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
    throw error;
  } finally {
    span.end();
  }
}

interface RequestedResource {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

function resourceOf(request: ApiRequest): RequestedResource {
  try {
    const { name = '', namespace = '', resource = '', subresource = '' } = request.target ?? {};
    return { resource: subresource ? `${resource}/${subresource}` : resource, namespace, name };
  } catch {
    // Malformed: the request itself will say so.
    return { resource: '', namespace: '', name: '' };
  }
}

function attributesOf(request: ApiRequest, { name, namespace, resource }: RequestedResource): Attributes {
  return {
    'http.request.method': request.method,
    // The client's own span identifies the client. Without one, only the user agent does.
    ...(request.headers['traceparent'] ? {} : { 'user_agent.original': request.headers['user-agent'] ?? '' }),
    ...(resource ? { 'k8s.resource': resource } : { 'url.path': request.path }),
    // As everywhere else where one object is meant; what is about many has their namespace at most.
    ...(name ? { 'k8s.object.key': keyOf({ namespace, name }) } : {}),
    ...(namespace && !name ? { 'k8s.namespace.name': namespace } : {}),
  };
}

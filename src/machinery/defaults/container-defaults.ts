import type { Decoded } from '../kubernetes/index.js';
import type { Container, HTTPGetAction, Probe } from '../generated/types/core-v1.js';

/** Defaults of one container. Source: SetDefaults_Container and its neighbours in pkg/apis/core/v1/defaults.go. */
export function defaultContainer(container: Decoded<Container>): void {
  container.resources ??= {};
  container.terminationMessagePath ??= '/dev/termination-log';
  container.terminationMessagePolicy ??= 'File';
  container.imagePullPolicy ??= pullPolicyFor(container.image ?? '');
  if (container.ports) for (const port of container.ports) port.protocol ??= 'TCP';
  if (container.env) defaultEnv(container.env);
  if (container.livenessProbe) defaultProbe(container.livenessProbe);
  if (container.readinessProbe) defaultProbe(container.readinessProbe);
  if (container.startupProbe) defaultProbe(container.startupProbe);
  if (container.lifecycle?.postStart?.httpGet) defaultHttpGet(container.lifecycle.postStart.httpGet);
  if (container.lifecycle?.preStop?.httpGet) defaultHttpGet(container.lifecycle.preStop.httpGet);
  omitZero(container, ['stdin', 'stdinOnce', 'tty']);
  if (container.ports) for (const port of container.ports) omitZero(port, ['hostPort']);
  if (container.volumeMounts) for (const mount of container.volumeMounts) omitZero(mount, ['readOnly']);
}

const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const HOST = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
/** A reference to an image, in the grammar of the distribution project. */
const REFERENCE = new RegExp(
  `^(?:(?:${HOST}(?:\\.${HOST})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?/)?${COMPONENT}(?:/${COMPONENT})*` +
    '(?::[\\w][\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$',
);
/** The part before the first slash is a host only if it looks like one; otherwise the whole name has to be lower case. */
const LOOKS_LIKE_HOST = /^(?:[^/.:A-Z]*[.:A-Z][^/]*|localhost)\//;
/** How the path of a repository begins in a name without any slash. */
const LIBRARY = 'library/';
/** The longest path of a repository. */
const MAX_PATH_LENGTH = 255;
const MAX_REFERENCE_LENGTH = 1024;

function isReference(image: string): boolean {
  if (image.length > MAX_REFERENCE_LENGTH || !REFERENCE.test(image)) return false;
  if (image.length > MAX_PATH_LENGTH - LIBRARY.length && pathLength(image) > MAX_PATH_LENGTH) return false;
  return !/^[a-f0-9]{64}$/.test(image) && (!/^[^/]*[A-Z]/.test(image) || LOOKS_LIKE_HOST.test(image));
}

function pathLength(image: string): number {
  const path = image
    .split('@', 1)[0]!
    .replace(/:[^:/]*$/, '')
    .replace(LOOKS_LIKE_HOST, '');
  return path.length + (image.includes('/') ? 0 : LIBRARY.length);
}

/** An image without a tag means `latest`; one with only a digest has no tag, and what is no reference has none either. */
export function pullPolicyFor(image: string): 'Always' | 'IfNotPresent' {
  if (!isReference(image)) return 'IfNotPresent';
  const name = image.slice(image.lastIndexOf('/') + 1);
  const hasDigest = name.includes('@');
  const [, tag] = (name.split('@')[0] ?? '').split(':');
  return tag === 'latest' || (tag === undefined && !hasDigest) ? 'Always' : 'IfNotPresent';
}

function defaultEnv(env: NonNullable<Decoded<Container>['env']>): void {
  for (const { valueFrom } of env) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ??= 'v1';
    if (valueFrom?.resourceFieldRef) valueFrom.resourceFieldRef.divisor ??= '0';
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
  }
}

function defaultProbe(probe: Decoded<Probe>): void {
  // Zero counts as unset here.
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  if (probe.httpGet) defaultHttpGet(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
  omitZero(probe, ['initialDelaySeconds']);
}

function defaultHttpGet(action: Decoded<HTTPGetAction>): void {
  action.path ??= '/';
  action.scheme ??= 'HTTP';
}

/** A port of a pod on the host's network is the host's port. */
export function defaultHostPorts(container: Decoded<Container>): void {
  for (const port of container.ports ?? []) {
    if (port.containerPort) port.hostPort ||= port.containerPort;
  }
}

/**
 * Removes fields that Kubernetes cannot tell from absent: `false`, `0` and `''` of plain (not optional) Go fields. It
 * omits them when it writes an object.
 */
export function omitZero<T extends object>(object: T, fields: readonly (keyof T)[]): void {
  for (const field of fields) {
    const value: unknown = object[field];
    if (value === false || value === 0 || value === '' || value === null) delete object[field];
  }
}

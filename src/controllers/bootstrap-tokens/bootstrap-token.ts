import { createHmac } from 'node:crypto';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { Secret } from '@rollkeeper/runtime';
import { BOOTSTRAP_TOKEN } from '../shared/index.js';

type ReadableSecret = DeepReadonly<Secret>;

export const TOKEN_NAMESPACE = 'kube-system';
const JWS = 'jws-kubeconfig-';

/** Whether the Secret is a bootstrap token, as kubeadm makes them. */
export function isBootstrapToken({ metadata, type }: ReadableSecret): boolean {
  return type === BOOTSTRAP_TOKEN && metadata.namespace === TOKEN_NAMESPACE;
}

/**
 * When a token expires, epoch milliseconds; Infinity: never. One whose time cannot be read has expired, as in the genuine controllers.
 * Source: `GetExpiration` in k8s.io/cluster-bootstrap.
 */
export function expiryOf(secret: ReadableSecret): number {
  const text = textOf(secret, 'expiration');
  if (text === '') return Infinity;
  const ms = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? -Infinity : ms;
}

interface SigningToken {
  readonly id: string;
  readonly secret: string;
}

/** The token, if it may sign at that time and its name fits its id. */
function signingToken(secret: ReadableSecret, nowMs: number): SigningToken | undefined {
  const [id, key] = [textOf(secret, 'token-id'), textOf(secret, 'token-secret')];
  const isUsable =
    isBootstrapToken(secret) &&
    secret.metadata.deletionTimestamp === undefined &&
    secret.metadata.name === `bootstrap-token-${id}` &&
    textOf(secret, 'usage-bootstrap-signing') === 'true' &&
    expiryOf(secret) > nowMs;
  return isUsable && id !== '' && key !== '' ? { id, secret: key } : undefined;
}

/**
 * The data of the ConfigMap `cluster-info` with a signature of its kubeconfig by each token; undefined where that is what it has.
 * Source: k/k pkg/controller/bootstrap/bootstrapsigner.go.
 */
export function decideSignatures(
  data: Readonly<Record<string, string>>,
  secrets: readonly ReadableSecret[],
  nowMs: number,
): Record<string, string> | undefined {
  const { kubeconfig } = data;
  if (kubeconfig === undefined) return undefined;
  const others = Object.entries(data).filter(([key]) => !key.startsWith(JWS));
  const signatures = secrets
    .flatMap((secret) => signingToken(secret, nowMs) ?? [])
    .map((token) => [JWS + token.id, detachedSignature(kubeconfig, token)] as const);
  const signed: Record<string, string> = Object.fromEntries([...others, ...signatures]);
  const isSame =
    Object.keys(signed).length === Object.keys(data).length &&
    Object.entries(signed).every(([key, value]) => data[key] === value);
  return isSame ? undefined : signed;
}

/** A JWS by HS256 without its payload, which is the kubeconfig itself. */
function detachedSignature(content: string, { id, secret }: SigningToken): string {
  const header = base64url(`{"alg":"HS256","kid":"${id}"}`);
  const signature = createHmac('sha256', secret)
    .update(`${header}.${base64url(content)}`)
    .digest('base64url');
  return `${header}..${signature}`;
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function textOf({ data = {} }: ReadableSecret, key: string): string {
  return Buffer.from(data[key] ?? '', 'base64').toString();
}

import type { Asked, Finding } from './finding.js';
import { failure, ok, warning } from './finding.js';

/** An API server, as one request has found it. */
export interface ApiFacts {
  readonly url: string;
  /** `v1.36.0` */
  readonly version: string;
  readonly tookMs: number;
  /** How far its clock is ahead of this machine's, milliseconds; undefined where its answers have no date. */
  readonly aheadMs?: number;
  /** Why it is not ready: `these checks fail: etcd`. Undefined: it is, or it does not say. */
  readonly notReady?: string;
}

/** The chart's `kubeVersion`. */
const OLDEST_MINOR = 25;
/** A date in a header is of whole seconds, so that less cannot be seen. */
const SKEW_TO_MENTION_MS = 2000;
/** Tokens and certificates that were just issued are not valid yet, or no longer. */
const SKEW_THAT_HARMS_MS = 60_000;
const SLOW_MS = 1000;

export function decideApi(asked: Asked<ApiFacts>): readonly Finding[] {
  if (asked.is !== 'answered')
    return [
      failure(
        'api',
        `the Kubernetes API does not answer: ${asked.why}`,
        'check --kubeconfig, --context and the network; `kubectl get --raw /readyz` asks the same server',
      ),
    ];
  const { version, url } = asked.value;
  return [
    isTooOld(version)
      ? failure(
          'api',
          `${url} is Kubernetes ${version}`,
          `upgrade the cluster: Kubernetes 1.${OLDEST_MINOR} is the oldest supported version`,
        )
      : ok('api', `${url} answers: Kubernetes ${version}`),
    ...decideReadiness(asked.value),
    ...decideSpeed(asked.value),
    ...decideSkew(asked.value),
  ];
}

function decideReadiness({ notReady, url }: ApiFacts): readonly Finding[] {
  if (notReady === undefined) return [];
  return [
    failure(
      'api',
      `${url} answers, but is not ready: ${notReady}`,
      'repair what the check names: etcd is its store (of the embedded server, Redis), which may be down, full or read-only; the log of the API server says more',
    ),
  ];
}

function decideSpeed({ tookMs }: ApiFacts): readonly Finding[] {
  if (tookMs < SLOW_MS) return [];
  return [
    warning(
      'api',
      `the API takes ${Math.round(tookMs)} ms for its version`,
      'every write of a rollout takes as long: check the load of the API server, and the network',
    ),
  ];
}

function decideSkew({ aheadMs }: ApiFacts): readonly Finding[] {
  if (aheadMs === undefined || Math.abs(aheadMs) < SKEW_TO_MENTION_MS) return [];
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const summary = `the API server’s clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine’s`;
  const remedy = 'synchronise both clocks (NTP): ages, deadlines, tokens and certificates depend on them';
  return [(Math.abs(aheadMs) < SKEW_THAT_HARMS_MS ? warning : failure)('api', summary, remedy)];
}

function isTooOld(version: string): boolean {
  const [, major = '0', minor = '0'] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) < 1 || (Number(major) === 1 && Number(minor) < OLDEST_MINOR);
}

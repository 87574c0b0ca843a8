import type { ApiServerMetrics, ServedRequest } from '@rollkeeper/apiserver';
import { serverVersion } from '@rollkeeper/apiserver/kubernetes-version';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { METRICS, REQUEST_BUCKETS } from '@rollkeeper/runtime/telemetry';
import type { Attributes, Meter, Observable } from '@opentelemetry/api';
import type { DeploymentState } from './deployment-states/deployment-states.js';
import type { CheckResult } from './replica/check-result-feed.js';
import type { SendResult } from './rollout-events/index.js';
import type { LookResult, ProblemCount } from './problem-watch/index.js';
import type { RolloutMetrics } from './rollout-durations/rollout-durations.js';

/** kube-apiserver's names for the same metrics, and our own for the store: there is no etcd here. */
export function createApiServerMetrics(metrics: Metrics): ApiServerMetrics {
  const { meter } = metrics;
  const advice = { explicitBucketBoundaries: REQUEST_BUCKETS };
  const total = tally(
    meter.createObservableCounter(METRICS.apiserverRequests, {
      description: 'Requests served, by verb, resource and status code',
    }),
    [...REQUEST_LABELS, 'code'],
  );
  const duration = meter.createHistogram(METRICS.apiserverDuration, {
    description: 'Seconds until a request was answered, watches left out',
    advice,
  });
  const inFlight = tally(
    meter.createObservableUpDownCounter(METRICS.apiserverInFlight, {
      description: 'Requests being served, watches left out',
    }),
    ['request_kind'],
  );
  const watches = tally(
    meter.createObservableUpDownCounter(METRICS.apiserverWatches, { description: 'Watches being served' }),
    ['verb'],
  );
  const terminations = meter.createCounter(METRICS.apiserverTerminations, {
    description: 'Requests that were refused or ended early so that others are served',
  });
  const terminatedWatchers = meter.createCounter(METRICS.apiserverTerminatedWatchers, {
    description: 'Watches that were ended because their client did not read',
  });
  const storage = meter.createHistogram(METRICS.storageDuration, {
    description: 'Seconds that an operation of the store took, by operation, resource and outcome',
    advice,
  });
  const unreadable = meter.createGauge(METRICS.storageUnreadable, {
    description:
      'Objects in the store that cannot be understood and count as absent, by resource; the log names them',
  });
  const access = createAccessMetrics(meter);
  observeVersion(meter);
  for (const kind of ['mutating', 'readOnly']) inFlight(0, kind);
  watches(0, 'WATCH');
  return {
    served(request, code, durationMs) {
      const { group, resource, scope, subresource, verb, version } = request;
      total(1, verb, group, version, resource, subresource, scope, COMPONENT, String(code));
      if (verb !== 'WATCH') duration.record(durationMs / 1000, labelsOf(request));
    },
    inFlight: (kind, change) => (kind === 'watch' ? watches(change, 'WATCH') : inFlight(change, kind)),
    terminated(request, code) {
      const { group, resource, verb } = request;
      terminations.add(1, { ...labelsOf(request), code: String(code) });
      if (verb === 'WATCH' && code === 200) terminatedWatchers.add(1, { group, resource });
    },
    ...access,
    stored: (operation, resource, outcome, durationMs) =>
      storage.record(durationMs / 1000, { operation, resource, outcome }),
    unreadable: (resource, count) => unreadable.record(count, { resource }),
    serialize: async () => (await metrics.serialize()).replace(ENDLESS_NAMES, '$1'),
  };
}

/** Counters whose names in Kubernetes do not end as Prometheus would have it; OpenTelemetry gives all that end. */
const ENDLESS_NAMES = /\b(authentication_attempts|authenticated_user_requests)_total\b/g;

type AccessMetrics = Pick<ApiServerMetrics, 'authenticated' | 'authorized' | 'received' | 'deprecated'>;

/** Bytes, from what a small object has to the largest body that is taken. */
const BODY_BUCKETS = [1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 2e6, 3e6];
/** Seconds: neither is more than a look in memory, unless a token is one of a service account. */
const ACCESS_BUCKETS = [0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 1];

/** The users of requests, and whether they were allowed. */
function createAccessMetrics(meter: Meter): AccessMetrics {
  const advice = { explicitBucketBoundaries: ACCESS_BUCKETS };
  const users = tally(
    meter.createObservableCounter(METRICS.authenticatedRequests, {
      description: 'Requests whose user is known, by a word for the user',
    }),
    ['username'],
  );
  const attempts = tally(
    meter.createObservableCounter(METRICS.authenticationAttempts, {
      description: 'Requests whose user was looked for, by result',
    }),
    ['result'],
  );
  const authentication = meter.createHistogram(METRICS.authenticationDuration, {
    description: 'Seconds until it was known on whose behalf a request is made, by result',
    advice,
  });
  const decisions = tally(
    meter.createObservableCounter(METRICS.authorizationAttempts, {
      description: 'Requests about which it was decided whether they are allowed, by result',
    }),
    ['result'],
  );
  const authorization = meter.createHistogram(METRICS.authorizationDuration, {
    description: 'Seconds until it was decided whether a request is allowed, by result',
    advice,
  });
  const bodies = meter.createHistogram(METRICS.apiserverBodySize, {
    description: 'Bytes of the bodies of requests, by resource and verb',
    advice: { explicitBucketBoundaries: BODY_BUCKETS },
  });
  const deprecated = meter.createGauge(METRICS.apiserverDeprecated, {
    description: 'Deprecated versions that were asked for, 1 each',
  });
  return {
    authenticated(result, username, durationMs) {
      attempts(1, result);
      authentication.record(durationMs / 1000, { result });
      if (result === 'success') users(1, wordFor(username));
    },
    authorized(result, durationMs) {
      decisions(1, result);
      authorization.record(durationMs / 1000, { result });
    },
    received: ({ group, resource, verb }, bytes) => bodies.record(bytes, { group, resource, verb }),
    deprecated: ({ group, resource, subresource, version }) =>
      deprecated.record(1, { group, version, resource, subresource, removed_release: '' }),
  };
}

const KNOWN_USERS: ReadonlySet<string> = new Set(['admin', 'client', 'kube_proxy', 'kubelet']);

/** A client must not be able to make new labels: as in a genuine server, few users have their own. */
function wordFor(username: string): string {
  if (KNOWN_USERS.has(username)) return username;
  return username.includes('@') ? 'email_id' : 'other';
}

/** Of which release of Kubernetes the API is. */
function observeVersion(meter: Meter): void {
  const version = serverVersion();
  const info = (name: string, description: string, labels: Record<string, string>): void =>
    meter.createGauge(name, { description }).record(1, labels);
  info(METRICS.buildInfo, 'The release of Kubernetes that the API is the same as, always 1', {
    build_date: version.buildDate,
    compiler: version.compiler,
    git_commit: version.gitCommit,
    git_tree_state: version.gitTreeState,
    git_version: version.gitVersion,
    go_version: version.goVersion,
    major: version.major,
    minor: version.minor,
    platform: version.platform,
  });
  info(METRICS.versionInfo, 'The versions of Kubernetes that the server is of and emulates, always 1', {
    binary: version.gitVersion.replace(/^v/, ''),
    component: 'kube',
    emulation: `${version.emulationMajor}.${version.emulationMinor}`,
    min_compat: `${version.minCompatibilityMajor}.${version.minCompatibilityMinor}`,
  });
}

const COMPONENT = 'apiserver';
const REQUEST_LABELS = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;

function labelsOf({ group, resource, scope, subresource, verb, version }: ServedRequest) {
  return { verb, group, version, resource, subresource, scope, component: COMPONENT };
}

/**
 * Sums by labels that are handed over when they are read. An instrument that is added to sorts and writes out its labels each time, which
 * for the counters of every request took 2 % of the API server's time.
 * @returns adds to the sum of these values of the labels
 */
function tally(
  instrument: Observable,
  names: readonly string[],
): (change: number, ...values: readonly string[]) => void {
  const sums = new Map<string, { readonly labels: Attributes; sum: number }>();
  instrument.addCallback((result) => {
    for (const { labels, sum } of sums.values()) result.observe(sum, labels);
  });
  return (change, ...values) => {
    const key = values.join('\n');
    const known = sums.get(key);
    if (known) known.sum += change;
    else
      sums.set(key, { labels: Object.fromEntries(names.map((name, at) => [name, values[at]])), sum: change });
  };
}

/** Number of Deployments per state; `undefined` reports nothing. */
export function observeDeployments(
  meter: Meter,
  counts: () => ReadonlyMap<DeploymentState, number> | undefined,
): void {
  meter
    .createObservableGauge(METRICS.deployments, {
      description: 'Deployments by the state that their status tells',
    })
    .addCallback((result) => {
      for (const [state, count] of counts() ?? []) result.observe(count, { state });
    });
}

/** Number of Deployments by what their policies say; `undefined` reports nothing. */
export function observePolicies(meter: Meter, counts: () => ReadonlyMap<string, number> | undefined): void {
  meter
    .createObservableGauge(METRICS.rolloutPolicies, {
      description:
        'Deployments whose policies hold a rollout, went back, or cannot be followed, by the reason',
    })
    .addCallback((result) => {
      for (const [reason, count] of counts() ?? []) result.observe(count, { reason });
    });
}

/** Seconds: from a rollout of one pod to one of an hour. */
const ROLLOUT_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600];
/** Seconds spent by the controllers themselves. Includes the bounds of the objective (docs/RELIABILITY.md). */
const OVERHEAD_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];

/** Durations of rollouts and our share of them, reported by the leader. */
export function createRolloutMetrics(meter: Meter): RolloutMetrics {
  const duration = meter.createHistogram(METRICS.rolloutDuration, {
    description: 'Seconds from the change of a Deployment until its rollout ended, by outcome',
    advice: { explicitBucketBoundaries: ROLLOUT_BUCKETS },
  });
  const advice = { explicitBucketBoundaries: OVERHEAD_BUCKETS };
  const firstWrite = meter.createHistogram(METRICS.rolloutFirstWrite, {
    description: 'Seconds from the change of a Deployment until the first write that answers it',
    advice,
  });
  const overhead = meter.createHistogram(METRICS.rolloutOverhead, {
    description: 'Seconds of a complete rollout in which none of its pods was on its way',
    advice,
  });
  return {
    firstWrite: (durationMs) => firstWrite.record(durationMs / 1000),
    ended: (outcome, durationMs) => duration.record(durationMs / 1000, { outcome }),
    overhead: (durationMs) => overhead.record(durationMs / 1000),
  };
}

/** What the checks of rollouts come to. */
export function createCheckMetrics(meter: Meter): (result: CheckResult) => void {
  const total = meter.createCounter(METRICS.rolloutChecks, {
    description: 'Measurements of checks of rollouts, by kind and result',
  });
  return ({ kind, verdict }) => total.add(1, { kind, result: verdict });
}

/** What becomes of CloudEvents about rollouts. */
export function createRolloutEventMetrics(meter: Meter): (result: SendResult) => void {
  const total = meter.createCounter(METRICS.rolloutEvents, {
    description: 'CloudEvents about rollouts, by what became of a try to send one',
  });
  return (result) => total.add(1, { result });
}

/** Problems by kind and cause, and how old the oldest is; `undefined` reports nothing. Where there are none, one series says so. */
export function observeProblems(meter: Meter, counts: () => readonly ProblemCount[] | undefined): void {
  const none: ProblemCount = { kind: '', cause: '', count: 0, oldestSeconds: 0 };
  const shown = (): readonly ProblemCount[] => {
    const all = counts();
    return all?.length === 0 ? [none] : (all ?? []);
  };
  const report = (name: string, description: string, valueOf: (count: ProblemCount) => number): void =>
    meter.createObservableGauge(name, { description }).addCallback((result) => {
      for (const count of shown()) result.observe(valueOf(count), { kind: count.kind, cause: count.cause });
    });
  report(METRICS.problems, 'Objects that something blocks, by kind and cause', ({ count }) => count);
  report(
    METRICS.oldestProblem,
    'Seconds since the oldest of these problems began, by kind and cause',
    ({ oldestSeconds }) => oldestSeconds,
  );
}

/** What looking for problems costs. */
export function createProblemMetrics(meter: Meter): (look: LookResult) => void {
  const looks = meter.createCounter(METRICS.problemLooks, {
    description: 'Looks for problems, by result',
  });
  const duration = meter.createHistogram(METRICS.problemLookDuration, {
    description: 'Seconds that a look for problems took',
    advice: { explicitBucketBoundaries: REQUEST_BUCKETS },
  });
  const reads = meter.createCounter(METRICS.problemReads, {
    description: 'Lists that looks for problems read, by where they came from',
  });
  for (const result of ['done', 'failed']) looks.add(0, { result });
  for (const source of ['api', 'cache']) reads.add(0, { source });
  return (look) => {
    looks.add(1, { result: look.result });
    duration.record(look.tookMs / 1000);
    if (look.result === 'failed') return;
    reads.add(look.reads.api, { source: 'api' });
    reads.add(look.reads.caches, { source: 'cache' });
  };
}

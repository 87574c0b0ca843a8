import type { ApiServerMetrics, ServedRequest } from '@rollkeeper/apiserver';
import { serverVersion } from '@rollkeeper/apiserver/kubernetes-version';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { METRICS, REQUEST_BUCKETS } from '@rollkeeper/runtime/telemetry';
import type { Attributes, Meter, Observable } from '@opentelemetry/api';

/** Far more than a server has at a time. */
const MOST_RESOURCES = 1000;

const OTHER = { group: 'other', version: 'other', resource: 'other' } as const;

/**
 * Decides which resources are labels of metrics. Definitions of custom resources come and go, and a series stays as
 * long as the process: OpenTelemetry bounds the series of one collection, and not of all of them. Beyond the bound, all
 * further resources count as `other`.
 */
export class ResourceLabels {
  private readonly known = new Set<string>();

  /** @param most how many resources have labels of their own. @default 1000 */
  constructor(private readonly most = MOST_RESOURCES) {}

  /** The request with the labels that it may have. */
  of(request: ServedRequest): ServedRequest {
    const { group, resource, version } = request;
    return this.has(`${group}/${version}/${resource}`) ? request : { ...request, ...OTHER };
  }

  /** The same for the qualified name of a resource. */
  ofName(resource: string): string {
    return this.has(resource) ? resource : OTHER.resource;
  }

  private has(name: string): boolean {
    if (this.known.has(name)) return true;
    if (this.known.size >= this.most) return false;
    this.known.add(name);
    return true;
  }
}

/**
 * kube-apiserver's names for the same metrics, and our own for the store: there is no etcd here.
 * @param labels of requests and of the store. @default those of up to 1000 resources each
 */
export function createApiServerMetrics(
  metrics: Metrics,
  { requests = new ResourceLabels(), stores = new ResourceLabels() } = {},
): ApiServerMetrics {
  const all = createUnboundedMetrics(metrics);
  return {
    ...all,
    served: (request, code, durationMs) => all.served(requests.of(request), code, durationMs),
    terminated: (request, code) => all.terminated(requests.of(request), code),
    received: (request, bytes) => all.received(requests.of(request), bytes),
    deprecated: (request) => all.deprecated(requests.of(request)),
    stored: (operation, resource, outcome, durationMs) =>
      all.stored(operation, stores.ofName(resource), outcome, durationMs),
    unreadable: (resource, count) => all.unreadable(stores.ofName(resource), count),
  };
}

/** With a series for each resource, however many there are. */
function createUnboundedMetrics(metrics: Metrics): ApiServerMetrics {
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

/** Measures the release of Kubernetes that the API is of. */
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

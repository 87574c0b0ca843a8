/** Injection tokens of what the admin endpoints show. */
export const HEALTH_REGISTRY = Symbol('HealthRegistry');
export const METRICS_SOURCE = Symbol('Metrics');
export const STATUS_SOURCE = Symbol('StatusSource');
export const ADMIN_PORTS = Symbol('AdminPorts');
export const STORE_WATCH = Symbol('StoreWatch');
export const CLUSTER_VIEW = Symbol('ClusterView');
export const EXPLAIN_SOURCE = Symbol('ExplainSource');
export const CONSOLE_FEED = Symbol('ConsoleFeed');
export const EVENT_STREAMS = Symbol('EventStreams');

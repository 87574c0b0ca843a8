/** Injection tokens of what the admin endpoints show. */
export const HEALTH_REGISTRY = Symbol('HealthRegistry');
export const METRICS_SOURCE = Symbol('Metrics');
export const STATUS_SOURCE = Symbol('StatusSource');

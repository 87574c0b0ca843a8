/** Injection tokens of a replica's parts. */
export const OPTIONS = Symbol('CompiledReplicaOptions');
export const CLOCK = Symbol('Clock');
export const RANDOM = Symbol('RandomSource');
export const LOGGER = Symbol('Logger');
export const METRICS = Symbol('Metrics');
export const TRACING = Symbol('Tracing');
export const API_CLIENT = Symbol('HttpApiClient');
export const INFORMERS = Symbol('InformerFactory');
export const EVENTS = Symbol('ApiEventRecorder');
export const QUEUES = Symbol('QueueFactory');
export const ACTORS = Symbol('RedisActorRuntime');
export const ELECTOR = Symbol('ReplicaElector');
export const CONTROLLERS = Symbol('ManagedController[]');
export const MANAGER = Symbol('Manager');
export const HEALTH = Symbol('HealthRegistry');
export const EVENT_LOOP = Symbol('EventLoopMonitor');
export const STATUS = Symbol('StatusSource');

/**
 * For controller tests: `import { … } from 'rollkeeper/testing'`. Needs no test runner; the contract suites, which need
 * vitest, are in `rollkeeper/testing/contracts`.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export { FakeClock, SeededRandom } from '@rollkeeper/machinery/clock';
export { MemoryActorStore, StoredActorRuntime } from '@rollkeeper/runtime/activation';
export { MemoryWorkQueue, MemoryWorkQueueConsumer } from '@rollkeeper/runtime/work-queue';
export { checkConversionRoundTrips } from './conversion-round-trips.js';
export type { ObjectGenerator, RoundTripOptions } from './conversion-round-trips.js';
export { aDeployment } from './deployment-builder.js';
export type { DeploymentShape } from './deployment-builder.js';
export { ExclusiveProbe } from './exclusive-probe.js';
export { FakeCluster, refusal } from './fake-cluster.js';
export type { ClusterRequest } from './fake-cluster.js';
export { FakeInformers } from './fake-informers.js';
export { MemoryLease, MemoryResourceLock } from '@rollkeeper/runtime/leader-election';
export { freePort } from '@rollkeeper/machinery/listening';
export { memoryCoordination } from '@rollkeeper/runtime/operator/memory-coordination';
export { MemoryEventRecorder } from './memory-event-recorder.js';
export { aPod } from './pod-builder.js';
export type { PodTraits } from './pod-builder.js';
export { startTestRedisServer } from './redis-server.js';
export type { TestRedisServer } from './redis-server.js';
export { runController } from './run-controller.js';
export type { RunningController } from './run-controller.js';
export { waitFor } from './wait-for.js';
export type { WaitForOptions } from './wait-for.js';
export { BUILT_IN_CONTROLLERS, startTestCluster } from './cluster/index.js';
export type * from './cluster/index.js';

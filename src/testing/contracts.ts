/**
 * The contracts of the kit's ports as vitest suites, for implementers: `rollkeeper/testing/contracts`.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export { runActorContract } from './actor-contract.js';
export type { ActorContractOptions, ActorHarness } from './actor-contract.js';
export { runResourceLockContract } from './resource-lock-contract.js';
export type { ResourceLocksUnderTest } from './resource-lock-contract.js';
export { runWorkQueueContract } from './work-queue-contract.js';
export type { MakeWorkQueueHarness, TestedWorkQueue, WorkQueueHarness } from './work-queue-harness.js';

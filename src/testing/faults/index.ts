/**
 * Faults between a client and its API server, for tests: `rollkeeper/testing/faults`. Start at {@link startFaults}.
 * @packageDocumentation
 */
import '@rollkeeper/machinery/process/require-node';

export { startFaults } from './start-faults.js';
export type { FaultsTarget } from './start-faults.js';
export type { Faults } from './faults.js';
export type { FaultRates, FaultsOptions } from './faults.options.js';
export type { FaultRecord } from './fault-log.js';
export type { NextFault, PlannedFault } from './planned-fault.js';
export type { RequestMatch, SeenRequest } from './request-match.js';
export type { LockMatch } from './losable-locks.js';
export type { LeaseToTake, TakenLease } from './taken-leases.js';
export type { Held, WatchMatch } from './watch-gates.js';
export { SteppedClock } from './stepped-clock.js';

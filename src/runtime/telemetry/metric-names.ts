/** Every metric that Rollkeeper serves, with Kubernetes' own name if it has the same metric. */
export const METRICS = {
  workqueueAdds: 'workqueue_adds_total',
  workqueueRetries: 'workqueue_retries_total',
  workqueueDepth: 'workqueue_depth',
  workqueueQueueDuration: 'workqueue_queue_duration_seconds',
  workqueueWorkDuration: 'workqueue_work_duration_seconds',
  workqueueUnfinishedWork: 'workqueue_unfinished_work_seconds',
  workqueueLongestRunning: 'workqueue_longest_running_processor_seconds',
  workqueueParked: 'rollkeeper_workqueue_parked_keys',
  workqueueParkings: 'rollkeeper_workqueue_parkings_total',
  reconcileTotal: 'controller_runtime_reconcile_total',
  reconcileErrors: 'controller_runtime_reconcile_errors_total',
  reconcileTime: 'controller_runtime_reconcile_time_seconds',
  reconcilePanics: 'controller_runtime_reconcile_panics_total',
  reconcileTimeouts: 'controller_runtime_reconcile_timeouts_total',
  abandonedSyncs: 'rollkeeper_abandoned_syncs',
  staleReadsAvoided: 'rollkeeper_stale_reads_avoided_total',
  intentsReplayed: 'rollkeeper_intents_replayed_total',
  unqueuedKeys: 'rollkeeper_unqueued_keys_total',
  workqueueRepaired: 'rollkeeper_workqueue_repaired_keys_total',
  unreadableResources: 'rollkeeper_unreadable_resources',
  activeWorkers: 'controller_runtime_active_workers',
  maxConcurrentReconciles: 'controller_runtime_max_concurrent_reconciles',
  caughtUpWait: 'rollkeeper_caught_up_wait_seconds',
  leaderStatus: 'leader_election_master_status',
  leaderAttemptDuration: 'rollkeeper_leader_election_attempt_duration_seconds',
  leaderTransitions: 'rollkeeper_leader_transitions_total',
  leaderDepositions: 'rollkeeper_leader_depositions_total',
  deployments: 'rollkeeper_deployments',
  rolloutPolicies: 'rollkeeper_rollout_policies',
  rolloutDuration: 'rollkeeper_rollout_duration_seconds',
  rolloutFirstWrite: 'rollkeeper_rollout_first_write_seconds',
  rolloutOverhead: 'rollkeeper_rollout_overhead_seconds',
  rolloutChecks: 'rollkeeper_rollout_checks_total',
  rolloutEvents: 'rollkeeper_rollout_events_total',
  restClientRequests: 'rest_client_requests_total',
  restClientDuration: 'rest_client_request_duration_seconds',
  restClientRetries: 'rest_client_request_retries_total',
  restClientRetryAfter: 'rollkeeper_rest_client_retry_after_seconds_total',
  restClientRateLimiter: 'rest_client_rate_limiter_duration_seconds',
  restClientFairness: 'rollkeeper_rest_client_fairness_requests_total',
  events: 'rollkeeper_events_total',
  eventLoopDelay: 'nodejs_eventloop_delay_seconds',
  residentMemory: 'process_resident_memory_bytes',
  heapUsed: 'nodejs_heap_size_used_bytes',
  cpuSeconds: 'process_cpu_seconds_total',
  startTime: 'process_start_time_seconds',
  apiserverRequests: 'apiserver_request_total',
  apiserverDuration: 'apiserver_request_duration_seconds',
  apiserverInFlight: 'apiserver_current_inflight_requests',
  apiserverWatches: 'apiserver_longrunning_requests',
  apiserverTerminations: 'apiserver_request_terminations_total',
  apiserverTerminatedWatchers: 'apiserver_terminated_watchers_total',
  storageDuration: 'rollkeeper_storage_operation_duration_seconds',
  storageUnreadable: 'rollkeeper_storage_unreadable_objects',
} as const;

/** Seconds, powers of ten from 10 ns to 10 s, as in client-go's workqueue metrics. */
export const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10];

/** Seconds, as in controller-runtime's reconcile metrics. */
export const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** Seconds, as in Kubernetes' client metrics. */
export const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

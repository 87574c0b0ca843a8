import { SURFACE_DIFFERENCES } from '../conformance/surface-differences.js';

/** The metrics that a genuine server measures and ours does as well, under the same name and with the same type. */
export const METRICS_LIKE_THERE: readonly string[] = [
  'apiserver_current_inflight_requests',
  'apiserver_longrunning_requests',
  'apiserver_request_body_size_bytes',
  'apiserver_request_duration_seconds',
  'apiserver_request_terminations_total',
  'apiserver_request_total',
  'apiserver_requested_deprecated_apis',
  'authenticated_user_requests',
  'authentication_attempts',
  'authentication_duration_seconds',
  'authorization_attempts_total',
  'authorization_duration_seconds',
  'kubernetes_build_info',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'version_info',
];

/** The part of docs/API.md about the recorded surface: what differs, and what is measured. */
export function surfaceText(): string {
  const differences = SURFACE_DIFFERENCES.map(
    ({ cases, why }) => `- ${why} (${cases.map((id) => `\`${id}\``).join(', ')})`,
  );
  const metrics = METRICS_LIKE_THERE.map((name) => `\`${name}\``).join(', ');
  return [
    ...differences,
    '',
    `Of the metrics that a genuine server has, these are measured: ${metrics}. No others are served under its names: what is not measured is not`,
    'there.',
  ].join('\n');
}

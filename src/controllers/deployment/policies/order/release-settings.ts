import { PREFIX } from '../common/names.js';
import type { PolicySettings } from '../common/settings.js';

/** On a ReplicaSet: the release in which its version was rolled out; with ` ended` behind it once all of the release were good. */
export const RELEASE_OF_VERSION = `${PREFIX}release-of-version`;
const ENDED = ' ended';

/** The setting itself is one of the failures: it says what goes back. */
export const RELEASE_SETTINGS: PolicySettings<object> = {
  none: {},
  readers: {},
  keeps: [RELEASE_OF_VERSION],
};

/** The note of a release that is over. */
export function endedRelease(release: string): string {
  return release + ENDED;
}

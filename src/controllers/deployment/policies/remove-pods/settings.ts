import { PREFIX } from '../common/names.js';
import type { PolicySettings } from '../common/settings.js';

/** Set together with `spec.replicas`: the pods that the ReplicaSet should remove with it. */
export const REMOVE_PODS = `${PREFIX}remove-pods`;
/** The annotation only makes requests, so it has no settings. */
export const REMOVE_PODS_SETTINGS: PolicySettings<object> = { none: {}, readers: {}, keeps: [REMOVE_PODS] };

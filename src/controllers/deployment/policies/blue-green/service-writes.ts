import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { POD_TEMPLATE_HASH } from '../../../shared/index.js';
import { MANAGED_BY, SWITCHED } from './settings.js';
import type { ServiceWrite } from '../common/service-write.js';
import type { SelectingService, Switch } from './selecting-services.js';
import { hashSelectedBy } from './selecting-services.js';

/** Moves the selector to the pods of one template, and notes the move in the same write. The rest of the selector is not ours. */
export function pointAt(
  service: DeepReadonly<SelectingService>,
  deployment: string,
  { at, by, from = hashSelectedBy(service), to }: Switch,
): ServiceWrite {
  const noted: Switch = { to, ...(from !== undefined && from !== to && { from }), at, ...(by && { by }) };
  return writeOf(service, to, { [MANAGED_BY]: deployment, [SWITCHED]: stringifyJson(noted) });
}

/** The Service selects all pods again that it selected before policies moved it. */
export function letGo(service: DeepReadonly<SelectingService>): ServiceWrite {
  return writeOf(service, null, { [MANAGED_BY]: null, [SWITCHED]: null });
}

function writeOf(
  { metadata }: DeepReadonly<SelectingService>,
  hash: string | null,
  annotations: Readonly<Record<string, string | null>>,
): ServiceWrite {
  const { name, namespace = '', resourceVersion } = metadata;
  return {
    namespace,
    name,
    patch: { metadata: { resourceVersion, annotations }, spec: { selector: { [POD_TEMPLATE_HASH]: hash } } },
  };
}

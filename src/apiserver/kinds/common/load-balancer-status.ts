import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

/** A struct that is no pointer in Go, so that a genuine server shows it from the beginning: clients read what is in it without asking. */
export function withLoadBalancerStatus(object: UnstructuredObject): void {
  const { status } = object as { status?: { readonly loadBalancer?: object } };
  if (status?.loadBalancer === undefined) object.status = { ...status, loadBalancer: {} };
}

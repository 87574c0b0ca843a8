interface Exposed {
  status?: { loadBalancer?: object };
}

/** A struct that is no pointer in Go, so that a genuine server shows it from the beginning: clients read what is in it without asking. */
export function withLoadBalancerStatus(object: Exposed): void {
  if (object.status?.loadBalancer === undefined) object.status = { ...object.status, loadBalancer: {} };
}

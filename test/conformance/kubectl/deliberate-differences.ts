/** Recorded commands that print something else here, with the reason. docs/API.md has the same list, and a test compares the two. */
export const DELIBERATE_DIFFERENCES: Readonly<Record<string, string>> = Object.freeze({
  'kubectl patch deployment web --subresource=scale --type=merge -p \'{"spec":{"replicas":1}}\'':
    'a controller of the recorded cluster wrote the Deployment between the two requests of the command',
  'kubectl describe deploy web':
    'which of more than ten similar events are combined is a matter of chance in a genuine recorder',
  'kubectl get leases -A -o name | head -1 | cut -d/ -f1':
    'API servers and controllers keep no Leases, and there are no nodes',
  'kubectl delete all --all --wait=false | sort':
    'the recorded garbage collector had deleted the Job of the CronJob before the command came to it',
  'kubectl delete ns kc --timeout=40s': 'the recorded namespace still had contents after 40 s',
  'kubectl get ns kc': 'the recorded namespace still had contents after 40 s',
});

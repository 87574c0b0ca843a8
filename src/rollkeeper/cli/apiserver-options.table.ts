import { file, flag, oneOf, text, wholeNumber } from '@rollkeeper/machinery/options/option-table';
import { INVALID_POLICIES_OPTION } from '../terminal/invalid-policies-option.js';
import { REDIS_URL_OPTION, redisUrlHelp } from '../terminal/redis-url-option.js';

/** The options of `rollkeeper apiserver`. */
export const APISERVER_OPTIONS_TABLE = {
  'redis-url': text({ ...REDIS_URL_OPTION, help: redisUrlHelp('the Redis with the objects') }),
  'data-dir': text({
    help: 'folder of certificates and token',
    value: 'folder',
    notEmpty: 'must name a folder',
    default: '.rollkeeper',
  }),
  port: wholeNumber({
    help: 'port to listen on; 0 lets the system choose',
    value: 'port',
    least: 0,
    most: 65_535,
    default: 6443,
  }),
  host: text({
    help: 'address to listen on',
    value: 'address',
    notEmpty: 'must name an address',
    default: '127.0.0.1',
  }),
  'advertise-host': text({
    help: 'additional host name or address, for clients on other machines',
    value: 'name',
    notEmpty: 'must name a host',
  }),
  kubeconfig: file({
    help: 'write an admin kubeconfig there once it listens',
    shownDefault: 'none',
  }),
  'token-file': file({
    help: 'bearer token; created if missing',
    shownDefault: 'token in the data folder',
  }),
  'token-auth-file': file({
    help: 'more users, one per line: token,name,uid,"group,group"',
    shownDefault: 'none',
  }),
  'client-ca-file': file({
    help: 'authority of accepted client certificates',
    shownDefault: 'ca.crt in the data folder',
  }),
  'disable-admission-plugins': text({
    help: 'admission plug-ins to disable, for example LimitRanger,Priority',
    value: 'names',
    default: '',
    shownDefault: 'none',
  }),
  'unknown-service-accounts': oneOf(['warn', 'refuse'], {
    help: 'warn or refuse: how to treat pods with a missing service account',
    value: 'what',
    default: 'warn',
  }),
  ...INVALID_POLICIES_OPTION,
  'feature-gates': text({
    help: 'APIs of a newer Kubernetes as a preview, for example EvictionRequestAPI=true (docs/API-SERVER.md)',
    value: 'gates',
    default: '',
    shownDefault: 'all are off',
  }),
  insecure: flag({ help: 'serve HTTP without TLS, for benchmarks' }),
};

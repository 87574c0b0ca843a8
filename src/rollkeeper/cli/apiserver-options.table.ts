import { file, flag, oneOf, text, wholeNumber } from '@rollkeeper/machinery/options/option-table';
import { REDIS_URL_OPTION, redisUrlHelp } from '../redis-url-option.js';

/** The options of `rollkeeper apiserver`. */
export const APISERVER_OPTIONS_TABLE = {
  'redis-url': text({ ...REDIS_URL_OPTION, help: redisUrlHelp('where the objects are kept') }),
  'data-dir': text({
    help: 'where certificates and token are kept',
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
    help: 'a further name or address of it, for clients on other machines',
    value: 'name',
    notEmpty: 'must name a host',
  }),
  kubeconfig: file({
    help: 'write a kubeconfig with all rights there once it listens',
    shownDefault: 'none',
  }),
  'token-file': file({
    help: 'bearer token; made when it is missing',
    shownDefault: 'token in the data folder',
  }),
  'token-auth-file': file({
    help: 'further users: token,name,uid,"group,group" a line',
    shownDefault: 'none',
  }),
  'client-ca-file': file({
    help: 'whose client certificates are taken',
    shownDefault: 'ca.crt in the data folder',
  }),
  'disable-admission-plugins': text({
    help: 'plug-ins that let everything pass, for example LimitRanger,Priority',
    value: 'names',
    default: '',
    shownDefault: 'none',
  }),
  'unknown-service-accounts': oneOf(['warn', 'refuse'], {
    help: 'warn or refuse: what becomes of pods whose service account is not there',
    value: 'what',
    default: 'warn',
  }),
  insecure: flag({ help: 'plain HTTP without TLS, for measurements' }),
};

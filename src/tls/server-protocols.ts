/** TLS 1.3 first. Of TLS 1.2 only AEAD ciphers with forward secrecy: no CBC. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/** Used by every server in this project. */
export const SERVER_PROTOCOLS = { minVersion: 'TLSv1.2', ciphers: CIPHERS.join(':') } as const;

// The remedy for an API server's certificate that is not accepted, by the error's code, with the field of the kubeconfig.
// Refuses: naming a host, a path or a CA.

import { untrustedCertificateCodes } from '../../wire/connection-fault.ts';

const adviceByCode: ReadonlyMap<string, string> = new Map([
  [
    'CERT_HAS_EXPIRED',
    "the Kubernetes API server's certificate or its CA has expired; renew it, or correct the local clock",
  ],
  [
    'CERT_NOT_YET_VALID',
    "the Kubernetes API server's certificate is not valid yet; compare its clock with the local one",
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    "the Kubernetes API server's certificate is for other names; use one of them as the server, or set tls-server-name in the kubeconfig",
  ],
]);

/** Text to append to the code; `undefined` where the code is not about a certificate. */
export function adviceOn(code: string): string | undefined {
  if (!untrustedCertificateCodes.has(code)) return adviceByCode.get(code);
  return "the Kubernetes API server's certificate is not issued by certificate-authority of the kubeconfig: set the issuing CA certificate there; in a pod it comes from --root-ca-file of kube-controller-manager, in the ConfigMap kube-root-ca.crt";
}

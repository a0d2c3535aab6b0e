"""A server of S3 in memory, on a port of the loopback that is printed. It ends when its standard input does.

usage: s3_server.py BUCKET     with INITIAL_NO_AUTH_ACTION_COUNT=1 it knows nobody, once it has the bucket
"""

import logging
import sys
import urllib.request

from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
port = server.get_host_and_port()[1]
# Whatever is told of who asks is good enough for the first request.
headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=first/20260101/us-east-1/s3/aws4_request"}
urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/{sys.argv[1]}", method="PUT", headers=headers))
print(port, flush=True)
sys.stdin.read()

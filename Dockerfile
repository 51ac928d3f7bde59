# The image of every stage on Kubeflow Pipelines; docs/kubeflow.md leads from here to a run.
#     docker build --tag registry.example/clir:1 .
#     docker build --tag registry.example/clir:1-gpu --build-arg LOCK=locks/2.21-gpu.lock .
FROM python:3.13-slim-trixie

ARG LOCK=locks/2.21.lock
WORKDIR /opt/clir

# As tools/bootstrap.sh: with hashes pip would ask for extras, which uv leaves out of a lock.
COPY ${LOCK} ./requirements.lock
# pyfarmhash, which TFX needs, is published as source alone.
RUN apt-get update && apt-get install --yes --no-install-recommends g++ libgomp1 \
    && pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock \
    && apt-get purge --yes --auto-remove g++ && rm -rf /var/lib/apt/lists/*

COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation -e .

# A number, which Kubernetes can tell from root's, and root's group, in which clusters run users of their own choice.
# Kubeflow's launcher puts artifacts into /gcs, /minio and /s3.
RUN useradd --uid 1000 --gid 0 --create-home --home-dir /home/clir clir \
    && mkdir /gcs /minio /s3 \
    && chmod g+rwX /home/clir /gcs /minio /s3
ENV HOME=/home/clir PYTHONUNBUFFERED=1 TF_CPP_MIN_LOG_LEVEL=1
USER 1000:0

# No ENTRYPOINT: Kubeflow runs every stage's own command.
CMD ["clir", "--help"]

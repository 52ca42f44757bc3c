resource "google_compute_resource_policy" "run" {
  project     = "lab"
  region      = "us-central1"
  name        = "w-train-1-0"
  description = "windlass=true team=nlp windlass-claim=train-1-0 windlass-run=train windlass-expires=1760086400 windlass-claim-id=train-1-0 windlass-zone=us-central1-b"

  group_placement_policy {
    collocation = "COLLOCATED"
  }
}

resource "google_compute_instance" "run" {
  for_each          = toset(["w-train-1-0-0", "w-train-1-0-1"])
  project           = "lab"
  zone              = "us-central1-b"
  name              = each.key
  machine_type      = "a3-ultragpu-8g"
  description       = "windlass run train, claim train-1-0"
  resource_policies = [google_compute_resource_policy.run.self_link]

  labels = {
    team             = "nlp"
    windlass         = "true"
    windlass-claim   = "train-1-0"
    windlass-run     = "train"
    windlass-expires = "1760086400"
  }

  metadata = {
    windlass-claim         = "train-1-0"
    windlass-nodes         = "2"
    enable-oslogin         = "TRUE"
    block-project-ssh-keys = "TRUE"

    startup-script = <<WINDLASS_TEXT
…
WINDLASS_TEXT
  }

  boot_disk {
    auto_delete = true

    initialize_params {
      image = "projects/ubuntu-os-accelerator-images/global/images/family/ubuntu-accelerator-2404-amd64-with-nvidia-580"
      size  = 100
      type  = "hyperdisk-balanced"

      labels = {
        team             = "nlp"
        windlass         = "true"
        windlass-claim   = "train-1-0"
        windlass-run     = "train"
        windlass-expires = "1760086400"
      }
    }
  }

  network_interface {
    network  = "global/networks/default"
    nic_type = "GVNIC"
  }

  network_interface {
    network    = "global/networks/windlass-host-1"
    subnetwork = "regions/us-central1/subnetworks/windlass-host-1-us-central1"
    nic_type   = "GVNIC"
  }

  network_interface {
    network    = "global/networks/windlass-rdma-us-central1-b"
    subnetwork = "regions/us-central1/subnetworks/windlass-rdma-us-central1-b-0"
    nic_type   = "MRDMA"
  }

  network_interface {
    network    = "global/networks/windlass-rdma-us-central1-b"
    subnetwork = "regions/us-central1/subnetworks/windlass-rdma-us-central1-b-1"
    nic_type   = "MRDMA"
  }

  network_interface {
    network    = "global/networks/windlass-rdma-us-central1-b"
    subnetwork = "regions/us-central1/subnetworks/windlass-rdma-us-central1-b-2"
    nic_type   = "MRDMA"
  }

  network_interface {
    network    = "global/networks/windlass-rdma-us-central1-b"
    subnetwork = "regions/us-central1/subnetworks/windlass-rdma-us-central1-b-3"
    nic_type   = "MRDMA"
  }

  network_interface {
    network    = "global/networks/windlass-rdma-us-central1-b"
    subnetwork = "regions/us-central1/subnetworks/windlass-rdma-us-central1-b-4"
    nic_type   = "MRDMA"
  }

  network_interface {
    network    = "global/networks/windlass-rdma-us-central1-b"
    subnetwork = "regions/us-central1/subnetworks/windlass-rdma-us-central1-b-5"
    nic_type   = "MRDMA"
  }

  network_interface {
    network    = "global/networks/windlass-rdma-us-central1-b"
    subnetwork = "regions/us-central1/subnetworks/windlass-rdma-us-central1-b-6"
    nic_type   = "MRDMA"
  }

  network_interface {
    network    = "global/networks/windlass-rdma-us-central1-b"
    subnetwork = "regions/us-central1/subnetworks/windlass-rdma-us-central1-b-7"
    nic_type   = "MRDMA"
  }

  scheduling {
    provisioning_model          = "SPOT"
    preemptible                 = true
    instance_termination_action = "DELETE"
    automatic_restart           = false
    on_host_maintenance         = "TERMINATE"

    max_run_duration {
      seconds = 86400
    }
  }

  service_account {
    scopes = ["https://www.googleapis.com/auth/cloud-platform"]
  }

  shielded_instance_config {
    enable_secure_boot          = false
    enable_vtpm                 = true
    enable_integrity_monitoring = true
  }

  reservation_affinity {
    type = "NO_RESERVATION"
  }
}
